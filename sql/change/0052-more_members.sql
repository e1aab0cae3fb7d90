-- What decides the cost of a call, who and where, and what a call is said to have cost.

-- the owner of the repository, where telemetry names it
ALTER TABLE events ADD COLUMN repo_owner VARCHAR;
-- the commit that is checked out
ALTER TABLE events ADD COLUMN head_commit VARCHAR;
-- the sub-agent that did it; null for the main one
ALTER TABLE events ADD COLUMN agent_id VARCHAR;
-- the sub-agent that started this one
ALTER TABLE events ADD COLUMN parent_agent_id VARCHAR;
-- of the user at that time, likewise the next
ALTER TABLE events ADD COLUMN team VARCHAR;
ALTER TABLE events ADD COLUMN department VARCHAR;
-- who pays for it
ALTER TABLE events ADD COLUMN cost_center VARCHAR;
-- model_usage: the model that was asked for, if another one answered
ALTER TABLE events ADD COLUMN requested_model VARCHAR;
-- model_usage: standard, fast, ...
ALTER TABLE events ADD COLUMN speed VARCHAR;
-- model_usage: the provider's: standard, priority, flex, batch, ...
ALTER TABLE events ADD COLUMN service_tier VARCHAR;
-- model_usage: where it had to be computed, if that costs more
ALTER TABLE events ADD COLUMN region VARCHAR;
-- model_usage: how hard the model was asked to think
ALTER TABLE events ADD COLUMN effort VARCHAR;
-- model_usage: those that the provider bills
ALTER TABLE events ADD COLUMN web_searches BIGINT;
-- model_usage: what the agent or provider says that the call cost
ALTER TABLE events ADD COLUMN reported_cost_usd DECIMAL(18, 9)
