-- The extension of a path with its dot, lower-case; else ''. A dot file such as .env has none. A name can have line breaks.
CREATE OR REPLACE FUNCTION extension_of(path) AS lower_case(regexp_extract(file_name(path), '(?s)^.+(\.[^.]+)$', 1));
