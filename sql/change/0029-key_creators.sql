-- Who created a key over HTTP: the user, or what names the credential of no user. Null for a key that the service's machine made.
ALTER TABLE keys ADD COLUMN created_by VARCHAR
