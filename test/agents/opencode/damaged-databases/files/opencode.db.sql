CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT NOT NULL, version TEXT NOT NULL, time_created INTEGER NOT NULL);
CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, time_updated INTEGER NOT NULL, data TEXT NOT NULL);
CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT NOT NULL, time_updated INTEGER NOT NULL, data TEXT NOT NULL);

INSERT INTO session VALUES ('ses_1', NULL, '/home/ada/engine', '1.18.4', 1781085600000);

INSERT INTO message VALUES ('msg_1', 'ses_1', 1781085601000, '{"role":"assistant","agent":"build","modelID":"glm-5","path":{"cwd":"/home/ada/engine/src"},"time":{"created":1781085601000,"completed":1781085601900},"finish":"stop","tokens":{"input":100,"output":20,"reasoning":5,"cache":{"read":3000,"write":40}}}');
INSERT INTO part VALUES ('prt_msg_1_0', 'msg_1', 1781085601000, '{"type":"text","text":"I greet them all, as you have asked."}');
INSERT INTO message VALUES ('msg_0', 'ses_1', 1781085600000, '{');
