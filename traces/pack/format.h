/* format.h - blocks of packed events: what `--trace-format packed` writes instead of rows of inst
 * and mem.
 *
 * Up to PL_PACKED_ROWS events of one multiprocessor and one launch make a block. Its columns are
 * stored one after the other. A column holds, for each row, how far its value is from a prediction,
 * in as few bits as most rows need. It lists the rows that need more:
 *
 *     block    checksum of the rest (4 bytes), rows, warps, {block, warp, subcore} of each warp,
 *              columns, bytes of the offsets, offsets
 *     column   bytes, how it is predicted (1 byte), bits of a row (1 byte), exceptions,
 *              {rows skipped, high bits} of each exception, the low bits of all rows
 *
 *     offsets  of each row that has a list, for the lanes behind the first one: how far each is
 *              from the lane before; or, with PL_SHAPE_BITS: bits of a lane (1 byte),
 *              low zero bits that are left out (1 byte), least distance to the first
 *              lane, and for each lane how far it is beyond that
 *
 * Numbers without a size are varints: seven bits per byte, the lowest first, the top bit says that
 * more follow. Predictions look at earlier rows of the block only: the previous one, the latest of
 * the same warp, or the latest of the same instruction, so a block is read without any other. A
 * block that is damaged is refused; no content can make the reader leave its bounds.
 *
 * column_encode.c writes, column_decode.c reads, vtab.c makes SQL tables of it. No file here but
 * vtab.c knows SQLite. */
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

/* Columns of the two streams. The first three must be read before those that are predicted from
 * them. ACCESS holds what rarely differs between the accesses of one instruction: PL_ACCESS. */
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

/* How the addresses of a memory event are kept. */
enum {
    PL_SHAPE_NONE,     /* no lane, or no addresses */
    PL_SHAPE_STRIDE,   /* address and stride */
    PL_SHAPE_OFFSETS,  /* address of the first lane, and a list for the others */
    PL_SHAPE_REPEATED, /* the list of the latest row of this instruction that has one */
    PL_SHAPE_BITS /* the same as OFFSETS, its list in as many bits per lane as the farthest needs */
};

/* How a column is predicted. */
typedef enum pl_prediction {
    PL_PRED_NONE,      /* the value itself */
    PL_PRED_PREVIOUS,  /* the previous row's */
    PL_PRED_INSN,      /* that of the latest row with this pc */
    PL_PRED_INSN_STEP, /* the same, plus the difference of the two latest */
    PL_PRED_WARP,      /* that of the latest row of this warp */
    PL_PRED_NEXT_PC, /* what followed the warp's latest pc before; at first the next instruction */
    PL_PRED_WAITED,  /* cycles since the warp's latest row, less one */
    PL_PRED_COUNT
} pl_prediction;

/* Which warp a row belongs to. */
typedef struct pl_packed_warp {
    uint32_t block, warp, subcore;
} pl_packed_warp;

/* Events as they wait for their block to be full. */
typedef struct pl_packed_inst {
    uint64_t id, cycle, mask;
    uint32_t pc, waited, latency, weight;
    uint16_t warp; /* number in the block's list of warps */
    uint8_t stall;
} pl_packed_inst;

typedef struct pl_packed_mem {
    uint64_t id, inst, cycle, address, stride, mask;
    uint32_t pc, latency;
    uint64_t access; /* PL_ACCESS */
    uint16_t warp, sectors, wavefronts;
    uint8_t level;
} pl_packed_mem;

/* A block in the making. */
typedef struct pl_packed_block {
    pl_packed_stream stream;
    uint32_t epoch;     /* differs for each block of a trace: says whose a warp's number is */
    uint32_t sm, place; /* whose events these are; where the writer keeps the block */
    uint32_t n;         /* rows */
    uint32_t late;      /* rows of instructions whose latency is not known yet */
    struct pl_packed_block *next; /* in a list of the writer */
    uint32_t nwarps;              /* in use in warp[] */
    union {
        pl_packed_inst *inst;
        pl_packed_mem *mem;
    } row; /* PL_PACKED_ROWS */
    pl_packed_warp warp[PL_PACKED_ROWS];
    uint8_t *offsets; /* of rows with PL_SHAPE_OFFSETS, one after the other */
    size_t offset_bytes, offset_cap;
    /* Of an instruction's latest list of offsets; 0: it has none. */
    uint32_t list_mask[PL_PACKED_INSNS];
    uint16_t list[PL_PACKED_INSNS];    /* where in `lane` that is */
    uint64_t (*lane)[PL_PACKED_LANES]; /* differences of neighbouring lanes */
    uint32_t nlists, cap_lists;
} pl_packed_block;

/* Least and greatest value of a column, for the directory of blocks. */
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

/* A place to look up what instructions did before: two may share one, which costs bits only. */
static inline unsigned pl_packed_insn(uint64_t pc)
{
    return pc & (PL_PACKED_INSNS - 1);
}

uint32_t pl_packed_checksum(const uint8_t *p, size_t n);

/* ---- column_encode.c ---- */

/* Memory for packing, shared by all blocks of a writer. */
typedef struct pl_packer pl_packer;
pl_packer *pl_packer_open(void); /* NULL: out of memory */
void pl_packer_close(pl_packer *p);
/* An empty block; NULL: out of memory. */
pl_packed_block *pl_packed_new(pl_packed_stream stream);
void pl_packed_free(pl_packed_block *b); /* NULL is allowed */
/* Makes the block empty, under another epoch. */
void pl_packed_clear(pl_packed_block *b, uint32_t epoch);
/* The block as bytes, in memory of the packer until its next use; NULL: out of memory. The spans of
 * the values that the directory wants go to `span`. */
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

/* Appends the addresses of the active lanes behind the first, each as a difference to the lane
 * before, unless the instruction's latest list is the same. The shape of the row; PL_SHAPE_NONE:
 * out of memory. */
unsigned pl_packed_add_offsets(pl_packed_block *b, uint32_t pc, uint32_t mask,
                               const uint64_t *addr);

/* ---- column_decode.c ---- */

typedef struct pl_unpacker {
    pl_packed_stream stream;
    uint32_t n, nwarps;
    pl_packed_warp *warp;
    uint64_t *column[PL_PACKED_COLUMNS]; /* n values each; NULL until asked for */
    const uint8_t *bytes;                /* owned copy of the block */
    size_t nbytes;
    const uint8_t *at[PL_PACKED_COLUMNS], *end[PL_PACKED_COLUMNS];
    const uint8_t *offsets_at, *offsets_end;
    const uint8_t **row_offsets; /* where the offsets of each row start; NULL until asked for */
    bool *row_spread;            /* whether those are in the form of PL_SHAPE_BITS */
} pl_unpacker;

/* Looks at the frame of a block; false with *why when it is damaged or memory ran out (*why NULL).
 * The object holds a copy of the bytes. */
bool pl_unpack_open(pl_unpacker *u, pl_packed_stream stream, const void *bytes, size_t n,
                    const char **why);
/* The values of a column; NULL with *why when the block is damaged or memory ran out (*why NULL).
 */
const uint64_t *pl_unpack_column(pl_unpacker *u, unsigned column, const char **why);
/* Differences of the lanes' addresses to the first lane's, of a row with such a list. */
bool pl_unpack_offsets(pl_unpacker *u, uint32_t row, int64_t *offset /* PL_TRACED_LANES */,
                       const char **why);
/* The offsets of a row as the column mem.offsets has them: a JSON array by lane, up to the last
 * lane of the half that made the access. At most 22 bytes per lane, and 2. */
size_t pl_packed_offsets_text(char *buf, uint64_t mask, const int64_t *offset);
void pl_unpack_close(pl_unpacker *u);

#endif
