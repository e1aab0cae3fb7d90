-- One row is one person, or one team of a person, that a vendor lists. It proposes people and teams, and nothing else is made of it.
-- Grain: (org_id, report, user_id, team).
CREATE TABLE vendor_roster (
  org_id       VARCHAR NOT NULL,
  report       VARCHAR NOT NULL,  -- such as cursor-members
  user_id      VARCHAR NOT NULL,  -- the address or login, as in the vendor's other reports
  name         VARCHAR NOT NULL,  -- '' if the vendor doesn't tell
  team         VARCHAR NOT NULL,  -- '' for none
  is_seat      BOOLEAN NOT NULL,  -- whether the vendor bills it
  last_active  VARCHAR NOT NULL,  -- the day on which the vendor saw it last; '' if unknown
  pulled_at    TIMESTAMP(3) NOT NULL
)
--clickhouse ENGINE = MergeTree ORDER BY (org_id, report, user_id, team) SETTINGS enable_block_number_column = 1, enable_block_offset_column = 1
