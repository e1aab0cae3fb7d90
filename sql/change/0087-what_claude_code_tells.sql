-- Who serves a call, on which plan, and how many transcripts an agent has deleted.

-- model_usage: who serves the model: anthropic, bedrock, ...
ALTER TABLE events ADD COLUMN provider VARCHAR;
-- model_usage: the subscription that it belongs to: pro, max, team, enterprise, ...
ALTER TABLE events ADD COLUMN plan VARCHAR;
-- retention_sweep: that the agent deleted from the machine because they were old
ALTER TABLE events ADD COLUMN transcripts_deleted BIGINT;
-- retention_sweep: how many days it keeps them
ALTER TABLE events ADD COLUMN period_days BIGINT
