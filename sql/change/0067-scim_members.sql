-- One row says that a user is a member of a group.
-- Grain: (org_id, group_id, member_id).
CREATE TABLE scim_members (
  org_id     VARCHAR NOT NULL,
  group_id   VARCHAR NOT NULL,  -- scim_id of the group
  member_id  VARCHAR NOT NULL   -- scim_id of the user
)
--clickhouse ENGINE = MergeTree ORDER BY (org_id, group_id, member_id)
