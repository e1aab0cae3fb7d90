-- Events of an alias count for the person.

-- the revision of the organization's people; null if there was none
ALTER TABLE day_inputs ADD COLUMN people_revision BIGINT
