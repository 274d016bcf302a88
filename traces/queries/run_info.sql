-- Which program wrote this file, when, and for which machine
SELECT r.version, r.schema, r.started, r.level, r.filter, m.name AS machine, m.sms, m.subcores, m.max_warps, m.clock_mhz, r.command
FROM run r, machine m;
