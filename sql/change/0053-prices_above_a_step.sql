-- Calls with a long prompt cost more, web searches cost by themselves, and prices come from several lists.

-- tokens of a prompt above which the prices of the next columns hold for the whole call; null if its length doesn't matter
ALTER TABLE prices ADD COLUMN step_tokens BIGINT;
-- USD per million tokens of such a call; null where it isn't known, as the others
ALTER TABLE prices ADD COLUMN input_price_above DECIMAL(12, 6);
-- likewise of its output
ALTER TABLE prices ADD COLUMN output_price_above DECIMAL(12, 6);
-- likewise of what it reads from the cache
ALTER TABLE prices ADD COLUMN cache_read_price_above DECIMAL(12, 6);
-- likewise of what it writes to the cache
ALTER TABLE prices ADD COLUMN cache_write_price_above DECIMAL(12, 6);
-- likewise of what lives an hour there; null where it costs as the other writes
ALTER TABLE prices ADD COLUMN cache_write_1h_price_above DECIMAL(12, 6);
-- USD per thousand web searches
ALTER TABLE prices ADD COLUMN web_search_price DECIMAL(12, 6);
-- package, update (fetched later), daybook (what the package lacks or has wrong) or file: the operator's own, which counts alone
ALTER TABLE prices ADD COLUMN listed_by VARCHAR
