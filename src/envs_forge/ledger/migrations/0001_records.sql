-- One row is one thing that happened. Rows are added, never changed (see the triggers at the end).

CREATE TABLE sessions (
    number INTEGER PRIMARY KEY CHECK (number > 0),
    at TEXT NOT NULL,
    version TEXT NOT NULL,
    payload TEXT NOT NULL CHECK (json_valid(payload))
);

CREATE TABLE events (
    session INTEGER NOT NULL REFERENCES sessions (number),
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    at TEXT NOT NULL,
    duration_s REAL NOT NULL CHECK (duration_s >= 0),
    payload TEXT NOT NULL CHECK (json_valid(payload)),
    UNIQUE (session, kind, subject)
);

CREATE TABLE trials (
    bundle_hash TEXT NOT NULL,
    policy TEXT NOT NULL,
    number INTEGER NOT NULL CHECK (number >= 0),
    retry INTEGER NOT NULL CHECK (retry >= 0),
    bundle_id TEXT NOT NULL,
    status TEXT NOT NULL,
    counted INTEGER NOT NULL CHECK (counted IN (0, 1)),
    reward REAL CHECK (reward BETWEEN 0 AND 1),
    at TEXT NOT NULL,
    duration_s REAL NOT NULL CHECK (duration_s >= 0),
    payload TEXT NOT NULL CHECK (json_valid(payload)),
    UNIQUE (bundle_hash, policy, number, retry),
    CHECK (counted = (reward IS NOT NULL))
);

CREATE TABLE plans (
    number INTEGER PRIMARY KEY CHECK (number >= 0),
    size INTEGER NOT NULL CHECK (size >= 0),
    fixed INTEGER NOT NULL CHECK (fixed BETWEEN 0 AND size),
    recipe TEXT NOT NULL,
    objective REAL NOT NULL,
    at TEXT NOT NULL,
    duration_s REAL NOT NULL CHECK (duration_s >= 0),
    payload TEXT NOT NULL CHECK (json_valid(payload))
);

CREATE TABLE attempts (
    slot INTEGER NOT NULL CHECK (slot >= 0),
    plan INTEGER NOT NULL REFERENCES plans (number),
    draw INTEGER NOT NULL CHECK (draw >= 0),
    seed_hash TEXT NOT NULL,
    action TEXT NOT NULL,
    candidate TEXT UNIQUE,
    content_hash TEXT,
    code TEXT NOT NULL,
    at TEXT NOT NULL,
    duration_s REAL NOT NULL CHECK (duration_s >= 0),
    payload TEXT NOT NULL CHECK (json_valid(payload)),
    UNIQUE (slot, plan, draw),
    CHECK ((candidate IS NULL) = (content_hash IS NULL)),
    CHECK ((candidate IS NULL) = (code <> ''))
);

CREATE TABLE verdicts (
    slot INTEGER NOT NULL,
    plan INTEGER NOT NULL,
    draw INTEGER NOT NULL,
    retry INTEGER NOT NULL CHECK (retry >= 0),
    bundle_hash TEXT NOT NULL,
    decision TEXT NOT NULL,
    stage TEXT NOT NULL,
    code TEXT NOT NULL,
    at TEXT NOT NULL,
    duration_s REAL NOT NULL CHECK (duration_s >= 0),
    payload TEXT NOT NULL CHECK (json_valid(payload)),
    UNIQUE (slot, plan, draw, retry),
    FOREIGN KEY (slot, plan, draw) REFERENCES attempts (slot, plan, draw)
);

CREATE TABLE decisions (
    slot INTEGER NOT NULL,
    plan INTEGER NOT NULL,
    draw INTEGER NOT NULL,
    accepted INTEGER NOT NULL CHECK (accepted IN (0, 1)),
    content_hash TEXT,
    stage TEXT NOT NULL,
    code TEXT NOT NULL,
    at TEXT NOT NULL,
    payload TEXT NOT NULL CHECK (json_valid(payload)),
    UNIQUE (slot, plan, draw),
    FOREIGN KEY (slot, plan, draw) REFERENCES attempts (slot, plan, draw),
    CHECK ((accepted = 1) = (code = '')),
    CHECK (accepted = 0 OR content_hash IS NOT NULL)
);
CREATE UNIQUE INDEX one_accepted_per_slot ON decisions (slot) WHERE accepted = 1;
CREATE UNIQUE INDEX one_accepted_per_content ON decisions (content_hash) WHERE accepted = 1;

CREATE TABLE model_calls (
    role TEXT NOT NULL,
    subject TEXT NOT NULL,
    number INTEGER NOT NULL CHECK (number >= 0),
    model TEXT NOT NULL,
    prompt_tokens INTEGER NOT NULL CHECK (prompt_tokens >= 0),
    cached_tokens INTEGER NOT NULL CHECK (cached_tokens BETWEEN 0 AND prompt_tokens),
    completion_tokens INTEGER NOT NULL CHECK (completion_tokens >= 0),
    reasoning_tokens INTEGER NOT NULL CHECK (reasoning_tokens BETWEEN 0 AND completion_tokens),
    cost_usd REAL CHECK (cost_usd >= 0),
    at TEXT NOT NULL,
    duration_s REAL NOT NULL CHECK (duration_s >= 0),
    payload TEXT NOT NULL CHECK (json_valid(payload)),
    UNIQUE (role, subject, number)
);

CREATE VIEW rejections AS
SELECT stage, code, count(*) AS count FROM decisions WHERE accepted = 0 GROUP BY stage, code;

CREATE VIEW pass_rates AS
SELECT
    bundle_id, bundle_hash, policy,
    total(reward) AS k, sum(counted) AS n, sum(1 - counted) AS invalid, avg(reward) AS rate
FROM trials GROUP BY bundle_hash, policy;

CREATE VIEW tokens AS
SELECT
    role, model, count(*) AS calls,
    sum(prompt_tokens) AS prompt_tokens, sum(cached_tokens) AS cached_tokens,
    sum(completion_tokens) AS completion_tokens, sum(reasoning_tokens) AS reasoning_tokens,
    CASE WHEN count(*) = count(cost_usd) THEN sum(cost_usd) END AS cost_usd
FROM model_calls GROUP BY role, model;

CREATE TRIGGER sessions_stay BEFORE UPDATE ON sessions BEGIN SELECT raise(ABORT, 'append-only'); END;
CREATE TRIGGER sessions_last BEFORE DELETE ON sessions BEGIN SELECT raise(ABORT, 'append-only'); END;
CREATE TRIGGER events_stay BEFORE UPDATE ON events BEGIN SELECT raise(ABORT, 'append-only'); END;
CREATE TRIGGER events_last BEFORE DELETE ON events BEGIN SELECT raise(ABORT, 'append-only'); END;
CREATE TRIGGER trials_stay BEFORE UPDATE ON trials BEGIN SELECT raise(ABORT, 'append-only'); END;
CREATE TRIGGER trials_last BEFORE DELETE ON trials BEGIN SELECT raise(ABORT, 'append-only'); END;
CREATE TRIGGER plans_stay BEFORE UPDATE ON plans BEGIN SELECT raise(ABORT, 'append-only'); END;
CREATE TRIGGER plans_last BEFORE DELETE ON plans BEGIN SELECT raise(ABORT, 'append-only'); END;
CREATE TRIGGER attempts_stay BEFORE UPDATE ON attempts BEGIN SELECT raise(ABORT, 'append-only'); END;
CREATE TRIGGER attempts_last BEFORE DELETE ON attempts BEGIN SELECT raise(ABORT, 'append-only'); END;
CREATE TRIGGER verdicts_stay BEFORE UPDATE ON verdicts BEGIN SELECT raise(ABORT, 'append-only'); END;
CREATE TRIGGER verdicts_last BEFORE DELETE ON verdicts BEGIN SELECT raise(ABORT, 'append-only'); END;
CREATE TRIGGER decisions_stay BEFORE UPDATE ON decisions BEGIN SELECT raise(ABORT, 'append-only'); END;
CREATE TRIGGER decisions_last BEFORE DELETE ON decisions BEGIN SELECT raise(ABORT, 'append-only'); END;
CREATE TRIGGER model_calls_stay BEFORE UPDATE ON model_calls BEGIN SELECT raise(ABORT, 'append-only'); END;
CREATE TRIGGER model_calls_last BEFORE DELETE ON model_calls BEGIN SELECT raise(ABORT, 'append-only'); END;
