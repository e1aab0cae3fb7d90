-- One row is one item that a vendor bills an organization on one day, or the note that the day was fetched, of 0. No row is about a person, and
-- none counts as usage.
-- Grain: (org_id, report, day, item).
CREATE TABLE vendor_bills (
  org_id     VARCHAR NOT NULL,
  report     VARCHAR NOT NULL,      -- such as anthropic-costs
  vendor     VARCHAR NOT NULL,      -- whose bill it is: anthropic, github, openai
  day        DATE NOT NULL,
  item       VARCHAR NOT NULL,      -- as the vendor names it, such as a model or a product; '' for the note
  usd        DECIMAL(18, 9),        -- what is to be paid; null if the report tells tokens
  gross_usd  DECIMAL(18, 9),        -- before discounts and included credits
  tokens     BIGINT,                -- of all kinds; null if the report tells money
  digest     VARCHAR NOT NULL       -- of the note: of all that the vendor said of the day; '' for an item
)
--clickhouse ENGINE = MergeTree ORDER BY (org_id, report, day, item) SETTINGS enable_block_number_column = 1, enable_block_offset_column = 1
