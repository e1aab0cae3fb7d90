-- The key of a model: its name without the date at its end. Names with one key are the same model, and a longer name is another one.
CREATE OR REPLACE FUNCTION model_key(name) AS undated(model_name(name));
