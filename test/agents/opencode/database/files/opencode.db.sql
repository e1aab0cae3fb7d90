CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT NOT NULL, version TEXT NOT NULL, time_created INTEGER NOT NULL);
CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, time_updated INTEGER NOT NULL, data TEXT NOT NULL);
CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT NOT NULL, time_updated INTEGER NOT NULL, data TEXT NOT NULL);

INSERT INTO session VALUES ('ses_1', NULL, '/home/ada/engine', '1.18.4', 1781085600000);

INSERT INTO message VALUES ('msg_1', 'ses_1', 1781085601000, '{"role":"user","time":{"created":1781085601000}}');
INSERT INTO part VALUES ('prt_msg_1_0', 'msg_1', 1781085601000, '{"type":"text","text":"Please greet whoever asks."}');

INSERT INTO message VALUES ('msg_2', 'ses_1', 1781085602000, '{"role":"assistant","agent":"build","modelID":"glm-5","path":{"cwd":"/home/ada/engine/src"},"time":{"created":1781085602000,"completed":1781085602900},"finish":"stop","tokens":{"input":100,"output":20,"reasoning":5,"cache":{"read":3000,"write":40}}}');
INSERT INTO part VALUES ('prt_msg_2_0', 'msg_2', 1781085602000, '{"type":"text","text":"I greet them all, as you have asked."}');
INSERT INTO part VALUES ('prt_msg_2_1', 'msg_2', 1781085602000, '{"type":"tool","tool":"write","callID":"call_write","state":{"status":"completed","input":{"filePath":"/e/new.py","content":"print(\"good morning\")"},"output":"what the tool printed","metadata":{"exists":false},"time":{"start":1781085605000,"end":1781085607500}}}');
INSERT INTO part VALUES ('prt_msg_2_2', 'msg_2', 1781085602000, '{"type":"tool","tool":"edit","callID":"call_edit","state":{"status":"completed","input":{"filePath":"/e/old.py"},"output":"what the tool printed","metadata":{"filediff":{"additions":4,"deletions":1}},"time":{"start":1781085605000,"end":1781085607500}}}');
INSERT INTO part VALUES ('prt_msg_2_3', 'msg_2', 1781085602000, '{"type":"tool","tool":"bash","callID":"call_bash","state":{"status":"completed","input":{"command":"git commit -m \"Greet\""},"output":"[main 0123abc] Greet","metadata":{"exit":0},"time":{"start":1781085605000,"end":1781085607500}}}');

INSERT INTO message VALUES ('msg_3', 'ses_1', 1781085603000, '{"role":"user","time":{"created":1781085603000}}');
INSERT INTO part VALUES ('prt_msg_3_0', 'msg_3', 1781085603000, '{"type":"text","text":"Please greet whoever asks.","synthetic":true}');

INSERT INTO message VALUES ('msg_4', 'ses_1', 1781085604000, '{"role":"assistant","agent":"plan","modelID":"glm-5","path":{"cwd":"/home/ada/engine/src"},"time":{"created":1781085604000,"completed":1781085604900},"finish":"stop","tokens":{"input":100,"output":20,"reasoning":5,"cache":{"read":3000,"write":40}}}');
INSERT INTO part VALUES ('prt_msg_4_0', 'msg_4', 1781085604000, '{"type":"text","text":"I greet them all, as you have asked."}');
INSERT INTO part VALUES ('prt_msg_4_1', 'msg_4', 1781085604000, '{"type":"tool","tool":"invalid","callID":"call_invalid","state":{"status":"completed","input":{},"output":"what the tool printed","metadata":{},"time":{"start":1781085605000,"end":1781085607500}}}');
INSERT INTO part VALUES ('prt_msg_4_2', 'msg_4', 1781085604000, '{"type":"tool","tool":"skill","callID":"call_skill","state":{"status":"completed","input":{"name":"review"},"output":"what the tool printed","metadata":{},"time":{"start":1781085605000,"end":1781085607500}}}');
