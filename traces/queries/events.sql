-- Faults, printed lines and what else happened once
SELECT e.kernel, k.name, e.kind, e.text FROM event e JOIN kernel k ON k.id = e.kernel ORDER BY e.id;
