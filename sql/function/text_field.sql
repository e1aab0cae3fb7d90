-- A text in the row text that a digest is computed from: a field of a CSV line. It is always quoted, so that no two values look the
-- same. NULL is an empty field; an empty text is not.
CREATE OR REPLACE FUNCTION text_field(value) AS coalesce('"' || replace(value, '"', '""') || '"', '');
