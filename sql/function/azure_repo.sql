-- The address of a repository of Azure DevOps, `//dev.azure.com/organization/project/repository`, of its address over SSH or HTTPS. Others stay
-- as they are.
CREATE OR REPLACE FUNCTION azure_repo(address) AS
  replaced(
    replaced(
      replaced(
        replaced(address, '^//(?:ssh\.dev\.azure|vs-ssh\.visualstudio)\.com/v3/', '//dev.azure.com/'),
        '^//([^/.]+)\.visualstudio\.com/(?:defaultcollection/)?',
        '//dev.azure.com/\1/'
      ),
      -- The project has the name of the repository.
      '^//dev\.azure\.com/([^/]+)/_git/([^/]+)$',
      '//dev.azure.com/\1/\2/\2'
    ),
    '^//dev\.azure\.com/([^/]+)/([^/_][^/]*)/_git/',
    '//dev.azure.com/\1/\2/'
  );
