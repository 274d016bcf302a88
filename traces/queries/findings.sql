-- Findings of the checkers (run --check): the two accesses, their threads, and the count
SELECT kernel, tool || '-' || kind AS finding, severity, space, replace(file, rtrim(file, replace(file, '/', '')), '') || ':' || line AS place,
    replace(other_file, rtrim(other_file, replace(other_file, '/', '')), '') || ':' || other_line AS other_place, count, text
FROM finding WHERE :kernel IS NULL OR kernel = :kernel ORDER BY kernel, id
