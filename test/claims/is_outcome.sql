-- A call that ended has an outcome.
is_outcome(true, NULL) -> true;
is_outcome(false, false) -> true;
-- One that was refused or interrupted has none, whatever its source says.
is_outcome(false, true) -> false;
is_outcome(true, true) -> false;
-- What isn't known is no outcome.
is_outcome(NULL, NULL) -> false;
