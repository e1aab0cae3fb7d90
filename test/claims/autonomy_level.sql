autonomy_level('auto-high') -> 'auto_high';
autonomy_level('auto-medium') -> 'auto_medium';
autonomy_level('auto-low') -> 'auto_low';
autonomy_level('spec') -> 'manual';
autonomy_level('manual') -> 'manual';
autonomy_level('') -> 'unknown';
autonomy_level('AUTO-HIGH') -> 'unknown';
autonomy_level(NULL) -> 'unknown';
