-- Faults, printed lines and other single events
SELECT e.kernel, k.name, e.kind, e.text FROM event e JOIN kernel k ON k.id = e.kernel ORDER BY e.id;
