-- `seq` grows with the time at which a call was kept. Times are in milliseconds since 1970, costs in US dollars.
CREATE TABLE svc_calls (
  seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  request_id TEXT NOT NULL,
  at BIGINT NOT NULL,
  function TEXT NOT NULL,
  route TEXT NOT NULL,
  program TEXT NOT NULL,
  key TEXT,
  status INTEGER NOT NULL,
  error TEXT,
  lossy SMALLINT NOT NULL,
  cache TEXT,
  client TEXT,
  model TEXT,
  attempts INTEGER NOT NULL,
  ms DOUBLE PRECISION NOT NULL,
  model_ms DOUBLE PRECISION NOT NULL,
  first_text_ms DOUBLE PRECISION,
  input_tokens BIGINT,
  output_tokens BIGINT,
  cost DOUBLE PRECISION,
  tags TEXT,
  content TEXT
);
CREATE INDEX svc_calls_request ON svc_calls (request_id);
CREATE INDEX svc_calls_function ON svc_calls (function, seq);
CREATE INDEX svc_calls_error ON svc_calls (error, seq) WHERE error IS NOT NULL;

CREATE TABLE svc_call_feedback (
  id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  call BIGINT NOT NULL REFERENCES svc_calls (seq) ON DELETE CASCADE,
  at BIGINT NOT NULL,
  key TEXT,
  score DOUBLE PRECISION,
  label TEXT,
  comment TEXT,
  value TEXT
);
CREATE INDEX svc_call_feedback_call ON svc_call_feedback (call);

-- The calls of each minute, for charts.
CREATE TABLE svc_call_minutes (
  function TEXT NOT NULL,
  minute BIGINT NOT NULL,
  calls BIGINT NOT NULL,
  failures BIGINT NOT NULL,
  lossy BIGINT NOT NULL,
  cost DOUBLE PRECISION NOT NULL,
  input_tokens BIGINT NOT NULL,
  output_tokens BIGINT NOT NULL,
  ms DOUBLE PRECISION NOT NULL,
  PRIMARY KEY (minute, function)
);
