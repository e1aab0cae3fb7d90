-- Spaces, tabs and line ends go at both ends, and stay inside.
stripped('Bash') -> 'Bash';
stripped('  Bash ') -> 'Bash';
stripped('
	 Bash
') -> 'Bash';
stripped(' a  b ') -> 'a  b';
stripped('') -> '';
stripped('   ') -> '';
stripped(NULL) -> NULL;
-- A no-break space is a character like any other.
stripped(' Bash') -> ' Bash';
