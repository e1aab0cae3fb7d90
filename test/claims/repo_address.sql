-- URLs of every scheme, without user and port.
repo_address('https://github.com/acme/api') -> '//github.com/acme/api';
repo_address('HTTPS://ada@GitHub.com:443/Acme/API.git') -> '//GitHub.com/Acme/API.git';
repo_address('ssh://git@git.acme.example:2222//srv/api') -> '//git.acme.example/srv/api';
repo_address('git+ssh://git@[::1]:22/api') -> '//[::1]/api';
repo_address('file:///srv/git/api.git') -> '///srv/git/api.git';
repo_address('https://git.acme.example/a@b:c') -> '//git.acme.example/a@b:c';
-- As SSH takes them, with a user, an alias of a host or an absolute path.
repo_address('git@github.com:acme/api.git') -> '//github.com/acme/api.git';
repo_address('work:acme/api') -> '//work/acme/api';
repo_address('git@[::1]:/srv/api') -> '//[::1]/srv/api';
-- Without a scheme.
repo_address('github.com/acme/api') -> '//github.com/acme/api';
-- Names, folders, and what has no path.
repo_address('acme/api') -> 'acme/api';
repo_address('api') -> 'api';
repo_address('/srv/git/api.git') -> '/srv/git/api.git';
repo_address('../api') -> '../api';
repo_address('C:\src\api') -> 'C:\src\api';
repo_address('C:/src/api') -> 'C:/src/api';
repo_address('https://github.com') -> 'https://github.com';
repo_address('https://github.com/') -> 'https://github.com/';
repo_address('github.com') -> 'github.com';
repo_address('codecommit::us-east-1://api') -> 'codecommit::us-east-1://api';
repo_address('note: an api') -> 'note: an api';
repo_address('') -> '';
repo_address(CAST(NULL AS VARCHAR)) -> CAST(NULL AS VARCHAR);
