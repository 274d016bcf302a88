-- Machine parameters that are neither measured nor documented: the uncertain parts of the model
SELECT section, key, value, unit, provenance, source FROM machine_value
WHERE provenance IN ('guessed', 'inferred') ORDER BY provenance, section, key;
