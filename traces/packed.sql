-- packed.sql - tables of a packed trace (--trace-format packed) in place of rows.sql.
--
-- inst and mem have the columns of rows.sql, but are computed from blocks of packed columns (format.h). Programs other than
-- ptxloom must load the module first: .load ptxloom_trace

CREATE TABLE packed_block ( -- a block of at most 2048 events of one multiprocessor, with the ranges that let a query skip it
    id          INTEGER PRIMARY KEY,
    stream      INTEGER NOT NULL, -- 0: inst, 1: mem
    kernel      INTEGER NOT NULL REFERENCES kernel (id),
    sm          INTEGER NOT NULL,
    rows        INTEGER NOT NULL,
    first_id    INTEGER NOT NULL, last_id    INTEGER NOT NULL,
    first_inst  INTEGER NOT NULL, last_inst  INTEGER NOT NULL,
    first_cycle INTEGER NOT NULL, last_cycle INTEGER NOT NULL,
    first_block INTEGER NOT NULL, last_block INTEGER NOT NULL,
    first_warp  INTEGER NOT NULL, last_warp  INTEGER NOT NULL,
    first_pc    INTEGER NOT NULL, last_pc    INTEGER NOT NULL
);

CREATE TABLE packed_data ( -- apart from packed_block, so that looking for blocks reads few pages
    id          INTEGER PRIMARY KEY REFERENCES packed_block (id),
    data        BLOB NOT NULL
);

CREATE VIRTUAL TABLE inst USING ptxloom_trace (inst);
CREATE VIRTUAL TABLE mem USING ptxloom_trace (mem);
