file_name('engine/cards.ts') -> 'cards.ts';
file_name('/home/ada/Makefile') -> 'Makefile';
file_name('C:\Users\ada\cards.ts') -> 'cards.ts';
file_name('a/b\c') -> 'c';
file_name('cards.ts') -> 'cards.ts';
file_name('engine/') -> '';
file_name('') -> '';
file_name('a/two
lines.ts') -> 'two
lines.ts';
file_name(NULL) -> NULL;
