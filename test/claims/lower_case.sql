lower_case('GitHub') -> 'github';
lower_case('ÀÉÎ Ж') -> 'àéî ж';
lower_case('') -> '';
lower_case(NULL) -> NULL;
-- One letter gives one letter, wherever it stands.
lower_case('ΟΔΟΣ') -> 'οδοσ';
lower_case('İI') -> 'ii';
lower_case('ẞß') -> 'ßß';
-- What has no letter case stays, invisible characters too.
lower_case('﻿A-1_中') -> '﻿a-1_中';
