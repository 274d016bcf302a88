-- The machine description with the origin of every value
SELECT section, key, value, unit, provenance, source FROM machine_value ORDER BY section, key;
