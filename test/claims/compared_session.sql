-- Nobody's telemetry gives way to that of a colleague.
compared_session('s1', 'ada') -> 's1';
compared_session('', 'ada') -> '(none) ada';
compared_session('', 'grace') -> '(none) grace';
