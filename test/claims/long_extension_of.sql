long_extension_of('views/page.blade.PHP') -> '.blade.php';
long_extension_of('archive.v2.tar.gz') -> '.tar.gz';
long_extension_of('page.php') -> '';
long_extension_of('.env.local') -> '';
long_extension_of('a.b.') -> '';
long_extension_of('') -> '';
long_extension_of(NULL) -> NULL;
