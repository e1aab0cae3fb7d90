-- One repository in its spellings.
repo_key('https://github.com/acme/api') -> 'github.com/acme/api';
repo_key('http://github.com/acme/api/') -> 'github.com/acme/api';
repo_key('https://ada@GitHub.com/Acme/API.git/') -> 'github.com/acme/api';
repo_key('HTTPS://GITHUB.COM:443/ACME/API.GIT') -> 'github.com/acme/api';
repo_key('git@github.com:Acme/API.git') -> 'github.com/acme/api';
repo_key('github.com:acme/api') -> 'github.com/acme/api';
repo_key('git@github.com:/acme/api') -> 'github.com/acme/api';
repo_key('ssh://git@github.com:22/acme/api/') -> 'github.com/acme/api';
repo_key('ssh://git@ssh.github.com:443/acme/api.git') -> 'github.com/acme/api';
repo_key('https://www.github.com/acme/api') -> 'github.com/acme/api';
repo_key('git://github.com/acme/api.git') -> 'github.com/acme/api';
repo_key('git+ssh://git@github.com/acme/api.git') -> 'github.com/acme/api';
repo_key('//github.com/acme/api') -> 'github.com/acme/api';
repo_key('github.com/Acme/api') -> 'github.com/acme/api';
-- The key of a key is the key.
repo_key('github.com/acme/api') -> 'github.com/acme/api';
repo_key('https://github.com/acme/api.git.git//') -> 'github.com/acme/api';
-- Other hosts that ignore the case of a path, and groups in groups.
repo_key('git@gitlab.com:Acme/Shop/API.git') -> 'gitlab.com/acme/shop/api';
repo_key('https://ada@bitbucket.org/Acme/API.git') -> 'bitbucket.org/acme/api';
repo_key('ssh://git@altssh.gitlab.com:443/Acme/API.git') -> 'gitlab.com/acme/api';
repo_key('ssh://git@altssh.bitbucket.org:443/Acme/API.git') -> 'bitbucket.org/acme/api';
repo_key('git@ssh.dev.azure.com:v3/Acme/My%20Shop/API') -> 'dev.azure.com/acme/my shop/api';
repo_key('https://acme@dev.azure.com/acme/My%20Shop/_git/api') -> 'dev.azure.com/acme/my shop/api';
repo_key('https://dev.azure.com/acme/my shop/_git/api') -> 'dev.azure.com/acme/my shop/api';
repo_key('https://Acme.VisualStudio.com/My%20Shop/_git/api') -> 'dev.azure.com/acme/my shop/api';
repo_key('https://acme.visualstudio.com/DefaultCollection/My%20Shop/_git/api') -> 'dev.azure.com/acme/my shop/api';
repo_key('acme@vs-ssh.visualstudio.com:v3/acme/My%20Shop/api') -> 'dev.azure.com/acme/my shop/api';
repo_key('https://dev.azure.com/acme/_git/api') -> 'dev.azure.com/acme/api/api';
repo_key('dev.azure.com/acme/my shop/api') -> 'dev.azure.com/acme/my shop/api';
-- On any other host, the case of a path matters.
repo_key('git@Git.Acme.Example:Shop/API.git') -> 'git.acme.example/Shop/API';
repo_key('https://git.acme.example:8443/Shop/API') -> 'git.acme.example/Shop/API';
repo_key('git@ssh.acme.example:Shop/API') -> 'ssh.acme.example/Shop/API';
repo_key('https://git.acme.example/My%20Shop') -> 'git.acme.example/My%20Shop';
repo_key('https://github.acme.example/Acme/api') -> 'github.acme.example/Acme/api';
repo_key('ssh://git@[::1]:22/api') -> '[::1]/api';
repo_key('https://git.acme.example/srv/api/.git') -> 'git.acme.example/srv/api';
repo_key('file:///srv/git/api.git') -> '/srv/git/api';
-- Another host, owner or name is another repository.
repo_key('https://gitlab.com/acme/api') -> 'gitlab.com/acme/api';
repo_key('https://github.com/globex/api') -> 'github.com/globex/api';
repo_key('https://github.com/acme/api.github') -> 'github.com/acme/api.github';
-- A name that is no address.
repo_key('Acme/API.git') -> 'Acme/API.git';
repo_key('API') -> 'API';
repo_key('/srv/git/API.git/') -> '/srv/git/API.git/';
repo_key('C:\src\API') -> 'C:\src\API';
repo_key('a note:
see b.git') -> 'a note:
see b.git';
repo_key('https://github.com/') -> 'https://github.com/';
repo_key('') -> '';
repo_key(CAST(NULL AS VARCHAR)) -> CAST(NULL AS VARCHAR);
