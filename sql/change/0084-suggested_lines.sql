-- Lines that a vendor says its agent suggested.

-- vendor_lines: of which lines_added were taken; null if the vendor doesn't tell
ALTER TABLE events ADD COLUMN lines_suggested BIGINT
