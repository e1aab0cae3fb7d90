extension_of('engine/cards.ts') -> '.ts';
extension_of('cards.test.TSX') -> '.tsx';
extension_of('C:\ada\cards.Ts') -> '.ts';
extension_of('archive.tar.gz') -> '.gz';
-- A dot file has none, nor has a name that ends in a dot, nor the folder's count.
extension_of('.env') -> '';
extension_of('ada/.env') -> '';
extension_of('.env.local') -> '.local';
extension_of('cards.') -> '';
extension_of('v1.2/Makefile') -> '';
extension_of('Makefile') -> '';
extension_of('') -> '';
extension_of('a.b/') -> '';
extension_of('two
lines.ts') -> '.ts';
extension_of(NULL) -> NULL;
