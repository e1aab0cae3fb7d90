-- The address of a repository as `//host/path`: a URL without its scheme, user and port, `user@host:path`, or `host.name/path`. A text that
-- is no address stays as it is.
CREATE OR REPLACE FUNCTION repo_address(name) AS
  replaced(
    name,
    '(?s)^(?:(?:[A-Za-z][A-Za-z0-9+.-]*:)?//(?:[^/]*@)?(\[[^\]/]*\]|[^/:@]*)(?::[0-9]*)?/+|(?:[^/:@\s]+@)?(\[[^\]/]*\]|[^/:@\s\[\\]{2,}):/?|([A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)/+)([^/:\s].*)$',
    '//\1\2\3/\4'
  );
