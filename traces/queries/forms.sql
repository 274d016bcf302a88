-- Instruction forms that the program uses, in the syntax of the PTX manual
SELECT f.mnemonic, f.syntax, f.class, f.effects, count(*) AS instructions
FROM instruction i JOIN isa_form f ON f.id = i.form GROUP BY f.id ORDER BY f.mnemonic, f.syntax;
