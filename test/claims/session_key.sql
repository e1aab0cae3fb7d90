-- Engines number them differently, so what is claimed is which of them are equal.
session_key('ana', 's1') = session_key('ana', 's1') -> true;
session_key('ana', 's1') = session_key('ana', 's2') -> false;
session_key('ana', 's1') = session_key('ben', 's1') -> false;
-- The parts are kept apart.
session_key('ana', 's1') = session_key('anas', '1') -> false;
session_key('', 'ana') = session_key('ana', '') -> false;
-- Letters of any alphabet.
session_key('æøå 𝒳', '会话') = session_key('æøå 𝒳', '会话') -> true;
session_key('æøå', '会话') = session_key('æøa', '会话') -> false;
