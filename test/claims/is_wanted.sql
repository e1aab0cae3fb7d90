is_wanted('ada', NULL, NULL) -> TRUE;
is_wanted('', NULL, NULL) -> TRUE;
-- One of the keys, all of it.
is_wanted('ada', ',ada,grace,', NULL) -> TRUE;
is_wanted('grace', ',ada,grace,', NULL) -> TRUE;
is_wanted('ad', ',ada,grace,', NULL) -> FALSE;
is_wanted('Ada', ',ada,grace,', NULL) -> FALSE;
is_wanted('', ',ada,', NULL) -> FALSE;
is_wanted('', ',ada,,', NULL) -> TRUE;
-- Commas and tildes in keys are not those between them.
is_wanted('a,b', ',a,b,', NULL) -> FALSE;
is_wanted('a,b', ',a~cb,', NULL) -> TRUE;
is_wanted('a~cb', ',a~cb,', NULL) -> FALSE;
is_wanted('a~cb', ',a~~cb,', NULL) -> TRUE;
-- A part of the name, whatever its case. No character stands for others.
is_wanted('Ada.Lovelace', NULL, 'LOVE') -> TRUE;
is_wanted('ÀDA', NULL, 'àd') -> TRUE;
is_wanted('ada', NULL, 'grace') -> FALSE;
is_wanted('ada', NULL, 'a%a') -> FALSE;
is_wanted('ada', NULL, 'a_a') -> FALSE;
is_wanted('a_a', NULL, '_') -> TRUE;
-- Both.
is_wanted('ada', ',ada,grace,', 'AD') -> TRUE;
is_wanted('grace', ',ada,grace,', 'AD') -> FALSE;
