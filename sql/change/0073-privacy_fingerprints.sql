-- A change of privacy says with which credential it was made.

-- of the key or other credential; '' for a command on the service's machine, and for changes before this column
ALTER TABLE privacy_revisions ADD COLUMN fingerprint VARCHAR
