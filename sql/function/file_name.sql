-- The last part of a path, after the last slash or backslash.
CREATE OR REPLACE FUNCTION file_name(path) AS regexp_extract(path, '([^/\\]*)$', 1);
