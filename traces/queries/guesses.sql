-- Values of the machine that are neither measured nor documented: where the model may be wrong
SELECT section, key, value, unit, provenance, source FROM machine_value
WHERE provenance IN ('guessed', 'inferred') ORDER BY provenance, section, key;
