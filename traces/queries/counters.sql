-- Raw counters of the components of the model
SELECT kernel, component, name, value, unit FROM counter
WHERE :kernel IS NULL OR kernel = :kernel ORDER BY kernel, component, name;
