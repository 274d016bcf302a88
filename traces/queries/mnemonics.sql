-- Instruction mix by mnemonic
SELECT s.kernel, f.mnemonic, sum(s.executed) AS executed, sum(s.issues) AS issues, round(1.0 * sum(s.lanes) / sum(s.issues), 1) AS lanes
FROM pc_stat s JOIN instruction i ON i.module = s.module AND i.pc = s.pc JOIN isa_form f ON f.id = i.form
WHERE s.issues > 0 AND (:kernel IS NULL OR s.kernel = :kernel)
GROUP BY s.kernel, f.mnemonic ORDER BY s.kernel, issues DESC;
