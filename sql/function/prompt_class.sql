-- The largest of the limits at which vendors change their prices that a call's prompt exceeds, in tokens; 0 for a prompt within all of them.
CREATE OR REPLACE FUNCTION prompt_class(prompt_tokens) AS
  CAST(
    CASE
      WHEN prompt_tokens > 512000 THEN 512000
      WHEN prompt_tokens > 272000 THEN 272000
      WHEN prompt_tokens > 200000 THEN 200000
      WHEN prompt_tokens > 128000 THEN 128000
      WHEN prompt_tokens > 100000 THEN 100000
      ELSE 0
    END AS BIGINT
  );
