-- Owners can see which keys nobody needs any more.

-- the last day on which a request had the key, in UTC; null if there was none since this is recorded
ALTER TABLE keys ADD COLUMN last_used_on DATE
