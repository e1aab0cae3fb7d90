-- The key of a repository, such as `github.com/acme/api`, whichever way its address is written: the host in lower case and the path, which is
-- in lower case where the host ignores its case, without `.git` and slashes at the end. A name that is no address is its own key.
CREATE OR REPLACE FUNCTION repo_key(name) AS
  replaced(
    azure_repo(
      replaced(
        replaced(
          CASE
            WHEN replaced(
              lower_case(repo_address(name)),
              '(?s)^//(?:(?:(?:www|ssh|altssh)\.)?(?:github\.com|gitlab\.com|bitbucket\.org)|(?:ssh\.)?dev\.azure\.com|[^/]*\.visualstudio\.com)/.*$',
              ''
            ) = ''
              THEN replaced(lower_case(repo_address(name)), '%20', ' ')
            ELSE
              lower_case(replaced(repo_address(name), '(?s)^(//[^/]*/)?.*$', '\1')) || replaced(repo_address(name), '^//[^/]*/', '')
          END,
          -- Hosts have other names for SSH behind firewalls.
          '^//(?:www|ssh|altssh)\.(github\.com|gitlab\.com|bitbucket\.org)/',
          '//\1/'
        ),
        '(?s)^(//[^/]*/.+?)(?:/|\.git)+$',
        '\1'
      )
    ),
    '^//([^/]*/)',
    '\1'
  );
