CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT NOT NULL, version TEXT NOT NULL, time_created INTEGER NOT NULL);
CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, time_updated INTEGER NOT NULL, data TEXT NOT NULL);
CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT NOT NULL, time_updated INTEGER NOT NULL, data TEXT NOT NULL);

INSERT INTO session VALUES ('ses_2', NULL, '/home/ada/engine', '1.18.33', 1781085600000);
INSERT INTO message VALUES ('msg_1', 'ses_2', 1781085609000, '{"role":"assistant","agent":"build","modelID":"glm-5","time":{"created":1781085602000,"completed":1781085608000},"tokens":{"input":10,"output":20,"reasoning":5,"cache":{"read":3000,"write":40}}}');
INSERT INTO part VALUES ('prt_1', 'msg_1', 1781085604000, '{"type":"step-finish","tokens":{"input":100,"output":200,"reasoning":50,"cache":{"read":0,"write":400}}}');
INSERT INTO part VALUES ('prt_2', 'msg_1', 1781085605000, '{"type":"tool","tool":"write","callID":"call_1","state":{"status":"completed","input":{"filePath":"/e/new.py"},"metadata":{"exists":false},"time":{"start":1781085604000,"end":1781085605000}}}');
INSERT INTO part VALUES ('prt_3', 'msg_1', 1781085608000, '{"type":"step-finish","tokens":{"input":10,"output":20,"reasoning":5,"cache":{"read":3000,"write":40}}}');

-- A fork, with a message of its own.
INSERT INTO session VALUES ('ses_1', NULL, '/home/ada/engine', '1.18.33', 1781085660000);
INSERT INTO message SELECT 'msg_2', 'ses_1', 1781085660000, data FROM message WHERE id = 'msg_1';
INSERT INTO part SELECT 'copy_of_' || id, 'msg_2', 1781085660000, data FROM part WHERE message_id = 'msg_1';
INSERT INTO message VALUES ('msg_3', 'ses_1', 1781085670000, '{"role":"assistant","agent":"build","modelID":"glm-5","time":{"created":1781085661000,"completed":1781085670000},"tokens":{"input":1,"output":2,"reasoning":0,"cache":{"read":3,"write":4}}}');
