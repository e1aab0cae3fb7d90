replaced('a.b.c', '[.]', '-') -> 'a-b-c';
replaced('ab', '(a)(b)', '\2\1') -> 'ba';
replaced('', 'a', 'b') -> '';
replaced(NULL, 'a', 'b') -> NULL;
