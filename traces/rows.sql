-- rows.sql - the tables of events of an ordinary trace; packed.sql provides the same tables from packed columns.

CREATE TABLE inst ( -- one executed warp instruction
    id          INTEGER PRIMARY KEY, -- kernel.first_inst + number of the issue in its launch
    kernel      INTEGER NOT NULL,
    cycle       INTEGER NOT NULL, -- of the issue; functional mode: the warp's instruction count
    sm          INTEGER NOT NULL,
    subcore     INTEGER NOT NULL,
    block       INTEGER NOT NULL, -- linear number
    warp        INTEGER NOT NULL, -- in its block
    pc          INTEGER NOT NULL,
    mask        INTEGER NOT NULL, -- lanes that executed it: bit 0 is lane 0
    lanes       INTEGER NOT NULL, -- number of them
    weight      INTEGER NOT NULL, -- hardware instructions that it stands for: their sum is kernel.inst_executed
    stall       INTEGER NOT NULL REFERENCES stall_reason (id), -- main reason for waiting before this issue
    stall_cycles INTEGER NOT NULL,
    latency     INTEGER NOT NULL, -- cycles to the result; 0: it has none, or unknown
    FOREIGN KEY (kernel, pc) REFERENCES pc_stat (kernel, pc)
);

CREATE TABLE mem ( -- one memory access of one warp instruction
    id          INTEGER PRIMARY KEY,
    inst        INTEGER NOT NULL REFERENCES inst (id),
    kernel      INTEGER NOT NULL,
    cycle       INTEGER NOT NULL,
    sm          INTEGER NOT NULL,
    block       INTEGER NOT NULL,
    warp        INTEGER NOT NULL,
    pc          INTEGER NOT NULL,
    space       INTEGER NOT NULL REFERENCES space (id), -- as resolved
    kind        INTEGER NOT NULL REFERENCES access_kind (id),
    mask        INTEGER NOT NULL,
    size        INTEGER NOT NULL, -- bytes a lane
    first_lane  INTEGER,          -- lowest active lane
    address     INTEGER,          -- of that lane
    stride      INTEGER,          -- lane i is at address + stride * (i - first_lane); NULL: see offsets
    offsets     TEXT,             -- irregular accesses: JSON array by lane, each relative to address, null: inactive
    sectors     INTEGER NOT NULL,
    wavefronts  INTEGER NOT NULL,
    level       INTEGER NOT NULL REFERENCES mem_level (id), -- that served the slowest part
    latency     INTEGER NOT NULL,
    FOREIGN KEY (kernel, pc) REFERENCES pc_stat (kernel, pc)
);
