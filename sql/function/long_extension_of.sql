-- The last two parts of a path's extension, lower-case, such as .blade.php; '' if it has fewer.
CREATE OR REPLACE FUNCTION long_extension_of(path) AS lower_case(regexp_extract(file_name(path), '(?s)^.+(\.[^.]+\.[^.]+)$', 1));
