is_group_name('Compilers') -> 1 = 1;
is_group_name('4711') -> 1 = 1;
is_group_name('R & D (Berlin)') -> 1 = 1;
is_group_name('é') -> 1 = 1;
-- Groups in brackets are none.
is_group_name('(none)') -> 1 = 0;
is_group_name('(small groups)') -> 1 = 0;
is_group_name('(') -> 1 = 0;
-- Nobody sees white space, and a line end begins another line.
is_group_name('') -> 1 = 0;
is_group_name(' ') -> 1 = 0;
is_group_name(' ') -> 1 = 0;
is_group_name('a
b') -> 1 = 0;
is_group_name('a	b') -> 1 = 0;
is_group_name('ab') -> 1 = 0;
is_group_name('a b') -> 1 = 1;

is_group_name(NULL) -> NULL;
