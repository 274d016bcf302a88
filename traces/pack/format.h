/* format.h - blocks of packed events, which `--trace-format packed` writes instead of rows of inst
 * and mem.
 *
 * Up to PL_PACKED_ROWS events of one multiprocessor and one launch form a block. Its columns are
 * stored sequentially. A column stores, for each row, the residual of its value against a
 * prediction, in as few bits as most rows need. Rows that need more are listed as exceptions:
 *
 *     block    checksum of the rest (4 bytes), rows, warps, {block, warp, subcore} of each warp,
 *              columns, bytes of the offsets, offsets
 *     column   bytes, prediction method (1 byte), bits of a row (1 byte), exceptions,
 *              {rows skipped, high bits} of each exception, the low bits of all rows
 *
 *     offsets  of each row that has a list, for the lanes after the first one: the difference of
 *              each to the previous lane; or, with PL_SHAPE_BITS: bits of a lane (1 byte),
 *              number of omitted low zero bits (1 byte), least difference to the first
 *              lane, and for each lane its excess over that
 *
 * Numbers without a size are varints: seven bits per byte, the lowest first; the top bit is set if
 * more bytes follow. Predictions use earlier rows of the same block only: the previous one, the
 * latest of the same warp, or the latest of the same instruction. A block can therefore be read
 * independently. A damaged block is rejected; no content can make the reader exceed its bounds.
 *
 * column_encode.c writes, column_decode.c reads, vtab.c presents the blocks as SQL tables. Only
 * vtab.c depends on SQLite. */
#ifndef PL_TRACES_PACK_FORMAT_H
#define PL_TRACES_PACK_FORMAT_H

#include "base/event.h"
#include "isa/program/insn.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PL_PACKED_ROWS = 2048,
    PL_PACKED_INSNS = 512,
    PL_PACKED_LANES = PL_LANES,
    PL_TRACED_LANES = PL_LANES * PL_MAX_HALVES
};

/* Columns of the two streams. The first three must be read before the columns that are predicted
 * from them. ACCESS combines fields that rarely differ between the accesses of one instruction:
 * PL_ACCESS. */
#define PL_PACKED_INST(X)                                                                          \
    X(WARP)                                                                                        \
    X(PC)                                                                                          \
    X(CYCLE)                                                                                       \
    X(ID)                                                                                          \
    X(MASK)                                                                                        \
    X(STALL)                                                                                       \
    X(WAITED)                                                                                      \
    X(LATENCY)                                                                                     \
    X(WEIGHT)
#define PL_PACKED_MEM(X)                                                                           \
    X(WARP)                                                                                        \
    X(PC)                                                                                          \
    X(CYCLE)                                                                                       \
    X(ID)                                                                                          \
    X(INST)                                                                                        \
    X(MASK)                                                                                        \
    X(ACCESS)                                                                                      \
    X(ADDRESS)                                                                                     \
    X(STRIDE)                                                                                      \
    X(SECTORS)                                                                                     \
    X(WAVEFRONTS)                                                                                  \
    X(LEVEL)                                                                                       \
    X(LATENCY)

enum {
#define X(name) PL_PI_##name,
    PL_PACKED_INST(X)
#undef X
        PL_PI_COUNT
};
enum {
#define X(name) PL_PM_##name,
    PL_PACKED_MEM(X)
#undef X
        PL_PM_COUNT
};
enum { PL_PACKED_COLUMNS = PL_PM_COUNT }; /* at most */

typedef enum pl_packed_stream { PL_PACKED_INST_STREAM, PL_PACKED_MEM_STREAM } pl_packed_stream;

#define PL_ACCESS(space, kind, size, shape)                                                        \
    ((uint64_t)(space) | (uint64_t)(kind) << 8 | (uint64_t)(size) << 16 | (uint64_t)(shape) << 32)

/* Representation of the addresses of a memory event. */
enum {
    PL_SHAPE_NONE,     /* no lane, or no addresses */
    PL_SHAPE_STRIDE,   /* address and stride */
    PL_SHAPE_OFFSETS,  /* address of the first lane, and a list for the others */
    PL_SHAPE_REPEATED, /* the same list as the previous row of this instruction that has one */
    PL_SHAPE_BITS /* as OFFSETS, but the list uses the bits per lane that the largest value needs */
};

/* Prediction of a column. */
typedef enum pl_prediction {
    PL_PRED_NONE,      /* the value itself */
    PL_PRED_PREVIOUS,  /* the previous row's value */
    PL_PRED_INSN,      /* the value of the latest row with this pc */
    PL_PRED_INSN_STEP, /* the same, plus the difference of the two latest */
    PL_PRED_WARP,      /* the value of the latest row of this warp */
    PL_PRED_NEXT_PC,   /* the pc that last followed the warp's latest pc; initially the next
                          instruction */
    PL_PRED_WAITED,    /* cycles since the warp's latest row, minus one */
    PL_PRED_COUNT
} pl_prediction;

/* The warp of a row. */
typedef struct pl_packed_warp {
    uint32_t block, warp, subcore;
} pl_packed_warp;

/* Events buffered until their block is full. */
typedef struct pl_packed_inst {
    uint64_t id, cycle, mask;
    uint32_t pc, waited, latency, weight;
    uint16_t warp; /* index in the block's list of warps */
    uint8_t stall;
} pl_packed_inst;

typedef struct pl_packed_mem {
    uint64_t id, inst, cycle, address, stride, mask;
    uint32_t pc, latency;
    uint64_t access; /* PL_ACCESS */
    uint16_t warp, sectors, wavefronts;
    uint8_t level;
} pl_packed_mem;

/* A block being filled. */
typedef struct pl_packed_block {
    pl_packed_stream stream;
    uint32_t epoch;     /* unique for each block of a trace: validates a warp's cached index */
    uint32_t sm, index; /* multiprocessor of the events; index of the block in the writer */
    uint32_t n;         /* rows */
    uint32_t late;      /* rows of instructions whose latency is not known yet */
    struct pl_packed_block *next; /* in a list of the writer */
    uint32_t nwarps;              /* entries used in warp[] */
    union {
        pl_packed_inst *inst;
        pl_packed_mem *mem;
    } row; /* PL_PACKED_ROWS */
    pl_packed_warp warp[PL_PACKED_ROWS];
    uint8_t *offsets; /* of rows with PL_SHAPE_OFFSETS, concatenated */
    size_t offset_bytes, offset_cap;
    /* Mask of an instruction's latest list of offsets; 0: it has none. */
    uint32_t list_mask[PL_PACKED_INSNS];
    uint16_t list[PL_PACKED_INSNS];    /* index of that list in `lane` */
    uint64_t (*lane)[PL_PACKED_LANES]; /* differences to the previous lane */
    uint32_t nlists, cap_lists;
} pl_packed_block;

/* Least and greatest value of a column, for the block directory. */
typedef struct pl_packed_span {
    uint64_t first, last;
} pl_packed_span;

static inline unsigned pl_packed_ncolumns(pl_packed_stream s)
{
    return s == PL_PACKED_INST_STREAM ? (unsigned)PL_PI_COUNT : (unsigned)PL_PM_COUNT;
}

static inline uint64_t pl_zigzag(uint64_t difference)
{
    return difference << 1 ^ (0 - (difference >> 63));
}

static inline uint64_t pl_unzigzag(uint64_t v)
{
    return v >> 1 ^ (0 - (v & 1));
}

/* Hash slot for the history of an instruction: a collision costs only space. */
static inline unsigned pl_packed_insn(uint64_t pc)
{
    return pc & (PL_PACKED_INSNS - 1);
}

uint32_t pl_packed_checksum(const uint8_t *p, size_t n);

/* ---- column_encode.c ---- */

/* Working memory for packing, shared by all blocks of a writer. */
typedef struct pl_packer pl_packer;
pl_packer *pl_packer_open(void); /* NULL: out of memory */
void pl_packer_close(pl_packer *p);
/* Allocates an empty block; NULL: out of memory. */
pl_packed_block *pl_packed_new(pl_packed_stream stream);
void pl_packed_free(pl_packed_block *b); /* NULL is allowed */
/* Empties the block and assigns a new epoch. */
void pl_packed_clear(pl_packed_block *b, uint32_t epoch);
/* Encodes the block into memory of the packer, valid until its next use; NULL: out of memory.
 * `span` receives the value ranges for the directory. */
enum {
    PL_SPAN_ID,
    PL_SPAN_INST,
    PL_SPAN_CYCLE,
    PL_SPAN_BLOCK,
    PL_SPAN_WARP,
    PL_SPAN_PC,
    PL_SPAN_COUNT
};
const uint8_t *pl_packer_pack(pl_packer *p, const pl_packed_block *b,
                              pl_packed_span span[PL_SPAN_COUNT], size_t *bytes);

/* Appends the addresses of the active lanes after the first, each as a difference to the previous
 * lane, unless they equal the instruction's latest list. Returns the shape of the row;
 * PL_SHAPE_NONE: out of memory. */
unsigned pl_packed_add_offsets(pl_packed_block *b, uint32_t pc, uint32_t mask,
                               const uint64_t *addr);

/* ---- column_decode.c ---- */

typedef struct pl_unpacker {
    pl_packed_stream stream;
    uint32_t n, nwarps;
    pl_packed_warp *warp;
    uint64_t *column[PL_PACKED_COLUMNS]; /* n values each; NULL until requested */
    const uint8_t *bytes;                /* owned copy of the block */
    size_t nbytes;
    const uint8_t *at[PL_PACKED_COLUMNS], *end[PL_PACKED_COLUMNS];
    const uint8_t *offsets_at, *offsets_end;
    const uint8_t **row_offsets; /* start of each row's offsets; NULL until requested */
    bool *row_is_bits;           /* by row: the offsets are in the form of PL_SHAPE_BITS */
} pl_unpacker;

/* Validates the frame of a block. False with *why when it is damaged, or with *why NULL when out of
 * memory. The object holds a copy of the bytes. */
bool pl_unpack_open(pl_unpacker *u, pl_packed_stream stream, const void *bytes, size_t n,
                    const char **why);
/* The values of a column. NULL with *why when the block is damaged, or with *why NULL when out of
 * memory. */
const uint64_t *pl_unpack_column(pl_unpacker *u, unsigned column, const char **why);
/* For a row with such a list, the differences of the lanes' addresses to the first lane's. */
bool pl_unpack_offsets(pl_unpacker *u, uint32_t row, int64_t *offset /* PL_TRACED_LANES */,
                       const char **why);
/* Formats the offsets of a row as in column mem.offsets: a JSON array by lane, up to the last lane
 * of the half that made the access. At most 22 bytes per lane, plus 2. */
size_t pl_packed_offsets_text(char *buf, uint64_t mask, const int64_t *offset);
void pl_unpack_close(pl_unpacker *u);

#endif
