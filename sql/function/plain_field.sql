-- An integer or a day in the row text that a digest is computed from.
CREATE OR REPLACE FUNCTION plain_field(value) AS coalesce(CAST(value AS VARCHAR), '');
