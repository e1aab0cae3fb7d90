-- The name of a model without a date at its end, such as -20250929, -2025-09-29 or @20250929.
CREATE OR REPLACE FUNCTION undated(name) AS replaced(name, '[-@]20[0-9]{2}(-[0-9]{2}-[0-9]{2}|[0-9]{4})$', '');
