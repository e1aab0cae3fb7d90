-- The part of a usage's id that names the message: usage:<message>: of usage:<message>:<request>. Only usage of transcripts has one.
CREATE OR REPLACE FUNCTION message_key(type, agent, event_id, request_id) AS
  CASE
    WHEN type <> 'model_usage' OR coalesce(agent, '') <> 'claude-code' OR event_id NOT LIKE 'usage:%' THEN NULL
    WHEN event_id LIKE '%:' THEN event_id
    WHEN right(event_id, length(request_id)) = request_id THEN left(event_id, length(event_id) - length(request_id))
    -- Stored before requests were kept.
    ELSE replaced(event_id, '[^:]*$', '')
  END;
