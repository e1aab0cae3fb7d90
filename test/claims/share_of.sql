-- A share is a quotient.
share_of(1, 4) -> 0.25;
share_of(0, 4) -> 0.0;
-- Of nothing there is no share.
share_of(0, 0) -> NULL;
share_of(NULL, NULL) -> NULL;
