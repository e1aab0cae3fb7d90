-- The last two parts of a path's extension, lower-case, as .blade.php; '' if it hasn't two.
CREATE OR REPLACE FUNCTION long_extension_of(path) AS lower_case(regexp_extract(file_name(path), '(?s)^.+(\.[^.]+\.[^.]+)$', 1));
