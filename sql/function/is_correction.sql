-- Whether a usage only tells that a request isn't billed after all, as Cursor does. It has the request's id, and no tokens.
CREATE OR REPLACE FUNCTION is_correction(type, event_id) AS
  type = 'model_usage' AND event_id LIKE 'correction:otlp:%';
