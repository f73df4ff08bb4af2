-- `seq` grows with the time at which a call was kept. Times are in milliseconds since 1970, costs in US dollars.
CREATE TABLE svc_calls (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  request_id TEXT NOT NULL,
  at INTEGER NOT NULL,
  function TEXT NOT NULL,
  route TEXT NOT NULL,
  program TEXT NOT NULL,
  key TEXT,
  status INTEGER NOT NULL,
  error TEXT,
  lossy INTEGER NOT NULL,
  cache TEXT,
  client TEXT,
  model TEXT,
  attempts INTEGER NOT NULL,
  ms REAL NOT NULL,
  model_ms REAL NOT NULL,
  first_text_ms REAL,
  input_tokens INTEGER,
  output_tokens INTEGER,
  cost REAL,
  tags TEXT,
  content TEXT
);
CREATE INDEX svc_calls_request ON svc_calls (request_id);
CREATE INDEX svc_calls_function ON svc_calls (function);
CREATE INDEX svc_calls_error ON svc_calls (error) WHERE error IS NOT NULL;

CREATE TABLE svc_call_feedback (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  call INTEGER NOT NULL REFERENCES svc_calls (seq) ON DELETE CASCADE,
  at INTEGER NOT NULL,
  key TEXT,
  score REAL,
  label TEXT,
  comment TEXT,
  value TEXT
);
CREATE INDEX svc_call_feedback_call ON svc_call_feedback (call);

-- The calls of each minute, for charts.
CREATE TABLE svc_call_minutes (
  function TEXT NOT NULL,
  minute INTEGER NOT NULL,
  calls INTEGER NOT NULL,
  failures INTEGER NOT NULL,
  lossy INTEGER NOT NULL,
  cost REAL NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  ms REAL NOT NULL,
  PRIMARY KEY (minute, function)
) WITHOUT ROWID;
