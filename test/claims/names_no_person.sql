names_no_person('otlp_log', 'unknown', NULL) -> true;
names_no_person('otlp_metric', '5e1f0c7a', true) -> true;
names_no_person('otlp_span', '5e1f0c7a', false) -> false;
-- The user of the key, or the one whose e-mail the agent knows.
names_no_person('otlp_log', 'grace', NULL) -> false;
names_no_person('log', 'unknown', NULL) -> false;
names_no_person('event', '5e1f0c7a', true) -> false;
