-- Over HTTP the user goes too, since it can be a token.
without_credentials('https://ci:s3cr3t@host/x.git') -> 'https://host/x.git';
without_credentials('https://ghp_token@host/x.git') -> 'https://host/x.git';
without_credentials('HTTPS://ci:s3cr3t@host:8443/x.git') -> 'HTTPS://host:8443/x.git';
without_credentials('https://ci%3As3cr3t@host/x.git') -> 'https://host/x.git';
without_credentials('git+https://ci:s3cr3t@host/x.git') -> 'git+https://host/x.git';
-- A password can have signs in it that it shouldn't have.
without_credentials('https://ci:p@ss#w?rd@host/x.git') -> 'https://host/x.git';
without_credentials('http://:s3cr3t@host') -> 'http://host';
-- Over SSH the user is no secret.
without_credentials('ssh://git:s3cr3t@host/x.git') -> 'ssh://git@host/x.git';
without_credentials('ssh://git%3As3cr3t@host/x.git') -> 'ssh://git@host/x.git';
without_credentials('ci:s3cr3t@host:x.git') -> 'ci@host:x.git';
without_credentials('ssh://git@host:22/x.git') -> 'ssh://git@host:22/x.git';
without_credentials('git@host:x.git') -> 'git@host:x.git';
without_credentials('https://host:8443/x@2.git') -> 'https://host:8443/x@2.git';
-- Parameters by their names, or by names that hide what they are.
without_credentials('https://host/x.git?private_token=s3cr3t&a=1') -> 'https://host/x.git?private_token=***&a=1';
without_credentials('https://host/x.git?a=1&Access_Token=s3cr3t#b') -> 'https://host/x.git?a=1&Access_Token=***#b';
without_credentials('https://host/x.git?access%5Ftoken=s3cr3t') -> 'https://host/x.git?access%5Ftoken=***';
without_credentials('https://host/x.git?X-Amz-Signature=s3cr3t') -> 'https://host/x.git?X-Amz-Signature=***';
without_credentials('https://host/x.git?keyword=a&path=b') -> 'https://host/x.git?keyword=a&path=b';
-- Wherever they stand.
without_credentials('fatal: unable to access ''https://ci:s3cr3t@host/x.git/'': no') -> 'fatal: unable to access ''https://host/x.git/'': no';
without_credentials('curl https://a:b@host/x https://c@host/y') -> 'curl https://host/x https://host/y';
without_credentials('{"repo":"https://host","user_email":"ada@acme.example"}') -> '{"repo":"https://host","user_email":"ada@acme.example"}';
without_credentials('write to ada@acme.example, a = b') -> 'write to ada@acme.example, a = b';
without_credentials('') -> '';
without_credentials(CAST(NULL AS VARCHAR)) -> CAST(NULL AS VARCHAR);
