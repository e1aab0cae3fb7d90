-- How a call was made, as far as it changes its price: '' for the usual way, under whatever name.
CREATE OR REPLACE FUNCTION class_of(way) AS
  CASE WHEN way IN ('standard', 'normal', 'default', 'auto', 'global', 'not_available') THEN '' ELSE coalesce(way, '') END;
