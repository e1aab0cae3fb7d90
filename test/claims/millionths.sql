millionths(1) -> 1000000;
millionths(0.1) -> 100000;
millionths(0.35) -> 350000;
millionths(0.000001) -> 1;
millionths(1000) -> 1000000000;
millionths(0) -> 0;
millionths(NULL) -> NULL;
