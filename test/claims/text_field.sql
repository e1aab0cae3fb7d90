text_field('ada') -> '"ada"';
text_field('') -> '""';
text_field('a"b,c') -> '"a""b,c"';
text_field('日本') -> '"日本"';
text_field('it''s') -> '"it''s"';
text_field('a\b') -> '"a\b"';
-- Nothing, where the row is put together.
text_field(NULL) -> '';
