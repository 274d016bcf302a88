-- The metrics that have a view of their own, with unit and meaning
SELECT name, family, unit, meaning FROM metric_info ORDER BY family DESC, name;
