-- Of few calls the share may be much lower, of many hardly.
floor(wilson_low(5, 10) * 1000) -> 236.0;
floor(wilson_low(500, 1000) * 1000) -> 469.0;
-- Of no failures it is 0.
abs(wilson_low(0, 10)) < 0.000001 -> true;
-- Of nothing nothing is known.
wilson_low(0, 0) -> NULL;
