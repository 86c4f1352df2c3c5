-- Repairs of a draw, rollouts on children, answers of models, and what was reserved before they were asked.

PRAGMA defer_foreign_keys = ON;

ALTER TABLE trials ADD COLUMN purpose TEXT NOT NULL DEFAULT 'seed' CHECK (purpose IN ('seed', 'child'));

DROP VIEW pass_rates;
CREATE VIEW pass_rates AS
SELECT
    bundle_id, bundle_hash, policy,
    total(reward) AS k, sum(counted) AS n, sum(1 - counted) AS invalid, avg(reward) AS rate
FROM trials WHERE purpose = 'seed' GROUP BY bundle_hash, policy;

CREATE VIEW child_rates AS
SELECT
    bundle_id, bundle_hash, policy,
    total(reward) AS k, sum(counted) AS n, sum(1 - counted) AS invalid, avg(reward) AS rate
FROM trials WHERE purpose = 'child' GROUP BY bundle_hash, policy;

CREATE TABLE new_attempts (
    slot INTEGER NOT NULL CHECK (slot >= 0),
    plan INTEGER NOT NULL REFERENCES plans (number),
    draw INTEGER NOT NULL CHECK (draw >= 0),
    repair INTEGER NOT NULL DEFAULT 0 CHECK (repair >= 0),
    seed_hash TEXT NOT NULL,
    action TEXT NOT NULL,
    candidate TEXT UNIQUE,
    content_hash TEXT,
    code TEXT NOT NULL,
    at TEXT NOT NULL,
    duration_s REAL NOT NULL CHECK (duration_s >= 0),
    payload TEXT NOT NULL CHECK (json_valid(payload)),
    UNIQUE (slot, plan, draw, repair),
    CHECK ((candidate IS NULL) = (content_hash IS NULL)),
    CHECK ((candidate IS NULL) = (code <> ''))
);
INSERT INTO new_attempts
SELECT slot, plan, draw, 0, seed_hash, action, candidate, content_hash, code, at, duration_s, payload
FROM attempts ORDER BY rowid;
CREATE TABLE old_verdicts AS SELECT * FROM verdicts ORDER BY rowid;
CREATE TABLE old_decisions AS SELECT * FROM decisions ORDER BY rowid;

DROP VIEW rejections;
DROP TABLE decisions;
DROP TABLE verdicts;
DROP TABLE attempts;
ALTER TABLE new_attempts RENAME TO attempts;

CREATE TABLE verdicts (
    slot INTEGER NOT NULL,
    plan INTEGER NOT NULL,
    draw INTEGER NOT NULL,
    repair INTEGER NOT NULL DEFAULT 0,
    retry INTEGER NOT NULL CHECK (retry >= 0),
    bundle_hash TEXT NOT NULL,
    decision TEXT NOT NULL,
    stage TEXT NOT NULL,
    code TEXT NOT NULL,
    at TEXT NOT NULL,
    duration_s REAL NOT NULL CHECK (duration_s >= 0),
    payload TEXT NOT NULL CHECK (json_valid(payload)),
    UNIQUE (slot, plan, draw, repair, retry),
    FOREIGN KEY (slot, plan, draw, repair) REFERENCES attempts (slot, plan, draw, repair)
);
CREATE TABLE decisions (
    slot INTEGER NOT NULL,
    plan INTEGER NOT NULL,
    draw INTEGER NOT NULL,
    repair INTEGER NOT NULL DEFAULT 0,
    accepted INTEGER NOT NULL CHECK (accepted IN (0, 1)),
    content_hash TEXT,
    stage TEXT NOT NULL,
    code TEXT NOT NULL,
    at TEXT NOT NULL,
    payload TEXT NOT NULL CHECK (json_valid(payload)),
    UNIQUE (slot, plan, draw, repair),
    FOREIGN KEY (slot, plan, draw, repair) REFERENCES attempts (slot, plan, draw, repair),
    CHECK ((accepted = 1) = (code = '')),
    CHECK (accepted = 0 OR content_hash IS NOT NULL)
);

INSERT INTO verdicts
SELECT slot, plan, draw, 0, retry, bundle_hash, decision, stage, code, at, duration_s, payload
FROM old_verdicts ORDER BY rowid;
INSERT INTO decisions
SELECT slot, plan, draw, 0, accepted, content_hash, stage, code, at, payload FROM old_decisions ORDER BY rowid;
DROP TABLE old_verdicts;
DROP TABLE old_decisions;

CREATE UNIQUE INDEX one_accepted_per_slot ON decisions (slot) WHERE accepted = 1;
CREATE UNIQUE INDEX one_accepted_per_content ON decisions (content_hash) WHERE accepted = 1;

CREATE VIEW rejections AS
SELECT stage, code, count(*) AS count FROM decisions WHERE accepted = 0 GROUP BY stage, code;

-- The answer as it came, kept before anything is made of it. `number` counts the calls for one subject.
CREATE TABLE model_answers (
    role TEXT NOT NULL,
    subject TEXT NOT NULL,
    number INTEGER NOT NULL CHECK (number >= 0),
    model TEXT NOT NULL,
    kind TEXT NOT NULL,
    at TEXT NOT NULL,
    payload TEXT NOT NULL CHECK (json_valid(payload)),
    UNIQUE (role, subject, number)
);

-- Every request that may cost something: reserved at its worst before it is sent, then settled by an answer whose usage
-- is known, or released because nothing was spent. What is neither was perhaps paid and never counted.
CREATE TABLE model_requests (
    role TEXT NOT NULL,
    subject TEXT NOT NULL,
    number INTEGER NOT NULL CHECK (number >= 0),
    retry INTEGER NOT NULL CHECK (retry >= 0),
    state TEXT NOT NULL CHECK (state IN ('reserved', 'settled', 'released')),
    session INTEGER NOT NULL,
    model TEXT NOT NULL,
    prompt_tokens INTEGER NOT NULL CHECK (prompt_tokens >= 0),
    completion_tokens INTEGER NOT NULL CHECK (completion_tokens >= 0),
    cost_usd REAL CHECK (cost_usd >= 0),
    at TEXT NOT NULL,
    payload TEXT NOT NULL CHECK (json_valid(payload)),
    UNIQUE (role, subject, number, retry, state)
);

CREATE VIEW lost_requests AS
SELECT role, subject, number, retry, session, model, prompt_tokens, completion_tokens, cost_usd, at
FROM model_requests AS r WHERE state = 'reserved' AND NOT EXISTS (
    SELECT 1 FROM model_requests AS e
    WHERE (e.role, e.subject, e.number, e.retry) = (r.role, r.subject, r.number, r.retry) AND e.state <> 'reserved'
);

CREATE TRIGGER attempts_stay BEFORE UPDATE ON attempts BEGIN SELECT raise(ABORT, 'append-only'); END;
CREATE TRIGGER attempts_last BEFORE DELETE ON attempts BEGIN SELECT raise(ABORT, 'append-only'); END;
CREATE TRIGGER verdicts_stay BEFORE UPDATE ON verdicts BEGIN SELECT raise(ABORT, 'append-only'); END;
CREATE TRIGGER verdicts_last BEFORE DELETE ON verdicts BEGIN SELECT raise(ABORT, 'append-only'); END;
CREATE TRIGGER decisions_stay BEFORE UPDATE ON decisions BEGIN SELECT raise(ABORT, 'append-only'); END;
CREATE TRIGGER decisions_last BEFORE DELETE ON decisions BEGIN SELECT raise(ABORT, 'append-only'); END;
CREATE TRIGGER model_answers_stay BEFORE UPDATE ON model_answers BEGIN SELECT raise(ABORT, 'append-only'); END;
CREATE TRIGGER model_answers_last BEFORE DELETE ON model_answers BEGIN SELECT raise(ABORT, 'append-only'); END;
CREATE TRIGGER model_requests_stay BEFORE UPDATE ON model_requests BEGIN SELECT raise(ABORT, 'append-only'); END;
CREATE TRIGGER model_requests_last BEFORE DELETE ON model_requests BEGIN SELECT raise(ABORT, 'append-only'); END;
