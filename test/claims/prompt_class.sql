-- A limit itself is not exceeded.
prompt_class(0) -> 0;
prompt_class(100000) -> 0;
prompt_class(100001) -> 100000;
prompt_class(128001) -> 128000;
prompt_class(200000) -> 128000;
prompt_class(200001) -> 200000;
prompt_class(272001) -> 272000;
prompt_class(9000000) -> 512000;
prompt_class(CAST(NULL AS BIGINT)) -> 0;
