-- What the checkers found (run --check): the two places, who met there, how often
SELECT kernel, tool || '-' || kind AS finding, severity, space, replace(file, rtrim(file, replace(file, '/', '')), '') || ':' || line AS place,
    replace(other_file, rtrim(other_file, replace(other_file, '/', '')), '') || ':' || other_line AS other_place, count, text
FROM finding WHERE :kernel IS NULL OR kernel = :kernel ORDER BY kernel, id
