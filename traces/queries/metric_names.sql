-- The metrics that have a view, with unit and meaning
SELECT name, family, unit, meaning FROM metric_info ORDER BY family DESC, name;
