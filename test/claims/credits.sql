-- multiplier, tokens, write rate, written, read rate, read.
credits(1.0, 100, 1.0, 0, 0.1, 0) -> 100;
credits(1.0, 100, 1.25, 40, 0.1, 1000) -> 250;
credits(2.0, 0, 1.0, 10, 0.1, 0) -> 20;
credits(0.0, 100, 1.0, 10, 0.1, 10) -> 0;
-- Half a credit is rounded up, and what is a half on paper is one here.
credits(0.35, 90, 1.0, 0, 0.1, 0) -> 32;
credits(1.0, 0, 1.0, 0, 0.1, 5) -> 1;
credits(1.0, 0, 1.0, 0, 0.1, 4) -> 0;
-- Exact where 64 bits and doubles aren't enough on the way.
credits(1000.0, 9007199254741, 1.0, 0, 0.1, 0) -> 9007199254741000;
credits(0.999999, 100000000000, 1.0, 100000000000, 1.0, 100000000000) -> 299999700000;
credits(NULL, 1, 1.0, 0, 0.1, 0) -> NULL;
credits(1.0, NULL, 1.0, 0, 0.1, 0) -> NULL;
