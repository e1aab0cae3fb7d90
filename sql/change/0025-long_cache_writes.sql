-- Cache writes that live an hour have a price of their own.

-- of tokens written to the cache that live an hour; null where they cost as the others
ALTER TABLE prices ADD COLUMN cache_write_1h_price DECIMAL(12, 6)
