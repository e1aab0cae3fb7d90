-- The request of a call of a model that telemetry reports: of a reply it is in the id. NULL for anything else.
CREATE OR REPLACE FUNCTION told_request(type, event_id, request_id) AS
  CASE
    WHEN type = 'model_usage' THEN request_id
    WHEN type = 'assistant_message' AND event_id LIKE 'message:otlp:%' THEN substr(event_id, 14)
  END;
