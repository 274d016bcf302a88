-- The program version, time, command and machine of this trace
SELECT r.version, r.schema, r.started, r.level, r.filter, m.name AS machine, m.sms, m.subcores, m.max_warps, m.clock_mhz, r.command
FROM run r, machine m;
