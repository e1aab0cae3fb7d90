-- Telemetry can name an installation of an agent instead of a person.

-- whether user_id is an installation of an agent, not a person
ALTER TABLE events ADD COLUMN is_installation BOOLEAN
