azure_repo('//ssh.dev.azure.com/v3/acme/shop/api') -> '//dev.azure.com/acme/shop/api';
azure_repo('//dev.azure.com/acme/shop/_git/api') -> '//dev.azure.com/acme/shop/api';
azure_repo('//acme.visualstudio.com/shop/_git/api') -> '//dev.azure.com/acme/shop/api';
azure_repo('//acme.visualstudio.com/defaultcollection/shop/_git/api') -> '//dev.azure.com/acme/shop/api';
azure_repo('//vs-ssh.visualstudio.com/v3/acme/shop/api') -> '//dev.azure.com/acme/shop/api';
-- HTTPS leaves out a project with the name of its repository, SSH doesn't.
azure_repo('//dev.azure.com/acme/_git/api') -> '//dev.azure.com/acme/api/api';
azure_repo('//acme.visualstudio.com/_git/api') -> '//dev.azure.com/acme/api/api';
azure_repo('//ssh.dev.azure.com/v3/acme/api/api') -> '//dev.azure.com/acme/api/api';
-- The key of a key is the key, and other hosts aren't Azure's.
azure_repo('//dev.azure.com/acme/shop/api') -> '//dev.azure.com/acme/shop/api';
azure_repo('//git.acme.example/shop/_git/api') -> '//git.acme.example/shop/_git/api';
