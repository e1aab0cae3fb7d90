disagreement('sessions are', 2, 2) -> '';
disagreement('sessions are', 2, 3) -> 'sessions are 2 where the day has 3; ';
disagreement('sessions are', -1, 0) -> 'sessions are -1 where the day has 0; ';
-- What a day lacks is 0.
disagreement('sessions are', NULL, 0) -> '';
disagreement('sessions are', 0, NULL) -> '';
disagreement('sessions are', NULL, NULL) -> '';
disagreement('sessions are', 1, NULL) -> 'sessions are 1 where the day has 0; ';
disagreement('sessions are', NULL, 1) -> 'sessions are 0 where the day has 1; ';
