-- What every event says, to be searched: filled in the background, some time after an event's commit.

BEGIN IMMEDIATE;

-- One row for each event that is indexed; those above the highest seq here are yet to come.
CREATE TABLE search_texts (
    seq   INTEGER PRIMARY KEY REFERENCES events (seq) ON DELETE CASCADE,
    place TEXT NOT NULL, -- the session, as a word
    said  TEXT NOT NULL,
    agent TEXT NOT NULL,
    tool  TEXT NOT NULL,
    key   TEXT NOT NULL,
    kind  TEXT NOT NULL,
    flag  TEXT NOT NULL
) STRICT;

-- No trigger fills it: with `trusted_schema` off, none may touch a virtual table.
CREATE VIRTUAL TABLE search_index USING fts5 (
    place, said, agent, tool, key, kind, flag,
    content = 'search_texts', content_rowid = 'seq', tokenize = 'unicode61 remove_diacritics 0',
    prefix = '3' -- longer beginnings of words have few words each
);

PRAGMA user_version = 25;
COMMIT;
