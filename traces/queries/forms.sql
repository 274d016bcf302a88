-- Rows of the instruction table that the program uses, as the PTX manual writes them
SELECT f.mnemonic, f.syntax, f.class, f.effects, count(*) AS instructions
FROM instruction i JOIN isa_form f ON f.id = i.form GROUP BY f.id ORDER BY f.mnemonic, f.syntax;
