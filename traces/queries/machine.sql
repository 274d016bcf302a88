-- The machine parameters with the provenance of each value
SELECT section, key, value, unit, provenance, source FROM machine_value ORDER BY section, key;
