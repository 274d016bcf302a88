-- migrate.sql - what an older trace lacks, made beside it when it is opened; the file itself is only read.
--
-- A step begins with "-- from N" and lifts schema N to N + 1. Its tables and views are temporary: they belong to the
-- connection that reads, and come before those of the file when a query names them. Metrics, rules and named queries are
-- replaced after the last step, so that an old trace answers today's questions.

-- from 1
CREATE TEMP TABLE unit_time (
    kernel INTEGER NOT NULL, component TEXT NOT NULL, unit INTEGER NOT NULL, name TEXT NOT NULL, cycle INTEGER NOT NULL,
    cycles INTEGER NOT NULL, value INTEGER NOT NULL, PRIMARY KEY (kernel, component, name, unit, cycle)
) WITHOUT ROWID;
