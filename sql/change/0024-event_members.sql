-- What decides between copies of an event travels with it, and cache writes of one hour have a price of their own.

-- model_usage: the call's id, as the model's provider gave it
ALTER TABLE events ADD COLUMN request_id VARCHAR;
-- how it was learnt: event, log, hook, otlp_log, otlp_span, otlp_metric, vendor_api; null means event
ALTER TABLE events ADD COLUMN channel VARCHAR;
-- model_usage: the part of cache_write_tokens that lives an hour
ALTER TABLE events ADD COLUMN cache_write_1h_tokens BIGINT
