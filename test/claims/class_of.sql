-- A call that says nothing was made in the usual way.
class_of('fast') -> 'fast';
class_of('standard') -> '';
class_of('normal') -> '';
class_of('default') -> '';
class_of('not_available') -> '';
class_of('priority') -> 'priority';
class_of('') -> '';
class_of(CAST(NULL AS VARCHAR)) -> '';
