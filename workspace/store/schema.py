"""The tables, as an ordered list of migrations. Old ones are never edited; a change is a new one at the end.

A version is (major, minor) as `major * 1000 + minor` in `PRAGMA user_version`. A program reads a store of a newer
minor version, which only adds, and refuses one of a newer major version. Times are whole seconds since 1970 UTC.
"""

MIGRATIONS: tuple[tuple[int, tuple[str, ...]], ...] = (
    (
        1000,
        (
            """
            CREATE TABLE source (
                id INTEGER PRIMARY KEY,
                name TEXT NOT NULL UNIQUE,
                kind TEXT NOT NULL,
                location TEXT NOT NULL,
                added INTEGER NOT NULL,
                last_success INTEGER,
                problem TEXT NOT NULL DEFAULT ''
            ) STRICT
            """,
            """
            CREATE TABLE cursor (
                source_id INTEGER NOT NULL REFERENCES source ON DELETE CASCADE,
                item TEXT NOT NULL,
                state TEXT NOT NULL,
                PRIMARY KEY (source_id, item)
            ) STRICT, WITHOUT ROWID
            """,
            """
            CREATE TABLE artifact (
                id INTEGER PRIMARY KEY AUTOINCREMENT,
                source_id INTEGER NOT NULL REFERENCES source ON DELETE CASCADE,
                key TEXT NOT NULL,
                kind TEXT NOT NULL,
                title TEXT NOT NULL,
                text TEXT NOT NULL,
                quoted TEXT NOT NULL,
                people TEXT NOT NULL,
                names TEXT NOT NULL,
                sender TEXT NOT NULL,
                time INTEGER,
                end INTEGER,
                due INTEGER,
                all_day INTEGER NOT NULL,
                busy INTEGER NOT NULL,
                cancelled INTEGER NOT NULL,
                status TEXT NOT NULL,
                location TEXT NOT NULL,
                thread TEXT NOT NULL,
                parent TEXT NOT NULL,
                series TEXT NOT NULL,
                recurrence TEXT NOT NULL,
                origin TEXT NOT NULL,
                trust TEXT NOT NULL,
                automatic INTEGER NOT NULL,
                defects TEXT NOT NULL,
                digest TEXT NOT NULL,
                revision INTEGER NOT NULL,
                UNIQUE (source_id, key)
            ) STRICT
            """,
            "CREATE INDEX artifact_time ON artifact (time DESC, id DESC)",
            "CREATE INDEX artifact_kind ON artifact (kind, time DESC, id DESC)",
            "CREATE INDEX artifact_thread ON artifact (thread) WHERE thread <> ''",
            "CREATE INDEX artifact_parent ON artifact (parent) WHERE parent <> ''",
            "CREATE INDEX artifact_series ON artifact (series) WHERE series <> ''",
            "CREATE INDEX artifact_sender ON artifact (sender) WHERE sender <> ''",
            "CREATE INDEX artifact_revision ON artifact (revision)",
            """
            CREATE VIRTUAL TABLE artifact_text USING fts5 (
                title, text, names,
                content = 'artifact', content_rowid = 'id',
                tokenize = 'unicode61 remove_diacritics 2'
            )
            """,
            "INSERT INTO artifact_text (artifact_text, rank) VALUES ('rank', 'bm25(4.0, 1.0, 2.0)')",
            """
            CREATE TRIGGER artifact_text_insert AFTER INSERT ON artifact BEGIN
                INSERT INTO artifact_text (rowid, title, text, names)
                VALUES (new.id, new.title, new.text, new.names);
            END
            """,
            """
            CREATE TRIGGER artifact_text_delete AFTER DELETE ON artifact BEGIN
                INSERT INTO artifact_text (artifact_text, rowid, title, text, names)
                VALUES ('delete', old.id, old.title, old.text, old.names);
            END
            """,
            """
            CREATE TRIGGER artifact_text_update AFTER UPDATE OF title, text, names ON artifact
            WHEN old.title IS NOT new.title OR old.text IS NOT new.text OR old.names IS NOT new.names BEGIN
                INSERT INTO artifact_text (artifact_text, rowid, title, text, names)
                VALUES ('delete', old.id, old.title, old.text, old.names);
                INSERT INTO artifact_text (rowid, title, text, names)
                VALUES (new.id, new.title, new.text, new.names);
            END
            """,
            """
            CREATE TABLE note (
                artifact_id INTEGER NOT NULL REFERENCES artifact ON DELETE CASCADE,
                section INTEGER NOT NULL,
                model TEXT NOT NULL,
                prompt_version INTEGER NOT NULL,
                digest TEXT NOT NULL,
                note TEXT NOT NULL,
                PRIMARY KEY (artifact_id, section)
            ) STRICT, WITHOUT ROWID
            """,
            """
            CREATE TABLE vector (
                id INTEGER PRIMARY KEY AUTOINCREMENT,
                artifact_id INTEGER NOT NULL REFERENCES artifact ON DELETE CASCADE,
                part INTEGER NOT NULL,
                embedder TEXT NOT NULL,
                digest TEXT NOT NULL,
                vector BLOB NOT NULL,
                UNIQUE (artifact_id, part)
            ) STRICT
            """,
            """
            CREATE TABLE run (
                id INTEGER PRIMARY KEY AUTOINCREMENT,
                started INTEGER NOT NULL,
                finished INTEGER,
                setup TEXT NOT NULL,
                nonce TEXT NOT NULL,
                record TEXT NOT NULL
            ) STRICT
            """,
            """
            CREATE TABLE reply (
                request TEXT PRIMARY KEY,
                run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
                reply TEXT NOT NULL
            ) STRICT, WITHOUT ROWID
            """,
            "CREATE INDEX reply_run ON reply (run_id)",
            "CREATE TABLE closed_view (view TEXT PRIMARY KEY, run_id INTEGER NOT NULL) STRICT, WITHOUT ROWID",
            """
            CREATE TABLE finding (
                id INTEGER PRIMARY KEY AUTOINCREMENT,
                about TEXT NOT NULL UNIQUE,
                run_id INTEGER NOT NULL REFERENCES run,
                state TEXT NOT NULL,
                reason TEXT NOT NULL DEFAULT '',
                snoozed_until INTEGER,
                created INTEGER NOT NULL,
                finding TEXT NOT NULL
            ) STRICT
            """,
            "CREATE INDEX finding_state ON finding (state)",
            """
            CREATE TABLE mark (
                artifact_id INTEGER PRIMARY KEY REFERENCES artifact ON DELETE CASCADE,
                made_from TEXT NOT NULL,
                marks TEXT NOT NULL
            ) STRICT
            """,
            """
            CREATE VIRTUAL TABLE mark_text USING fts5(
                marks, content = 'mark', content_rowid = 'artifact_id', detail = none, columnsize = 0,
                tokenize = "ascii tokenchars '-_.:/@#%+&'"
            )
            """,
            """
            CREATE TRIGGER mark_text_insert AFTER INSERT ON mark BEGIN
                INSERT INTO mark_text (rowid, marks) VALUES (new.artifact_id, new.marks);
            END
            """,
            """
            CREATE TRIGGER mark_text_delete AFTER DELETE ON mark BEGIN
                INSERT INTO mark_text (mark_text, rowid, marks) VALUES ('delete', old.artifact_id, old.marks);
            END
            """,
            """
            CREATE TRIGGER mark_text_update AFTER UPDATE OF marks ON mark WHEN old.marks IS NOT new.marks BEGIN
                INSERT INTO mark_text (mark_text, rowid, marks) VALUES ('delete', old.artifact_id, old.marks);
                INSERT INTO mark_text (rowid, marks) VALUES (new.artifact_id, new.marks);
            END
            """,
        ),
    ),
    (
        1001,
        (
            "ALTER TABLE source ADD COLUMN state TEXT NOT NULL DEFAULT ''",
            # Which sources a finding quotes: known when it is stored, not any more when its artifacts are gone.
            """
            CREATE TABLE finding_source (
                finding_id INTEGER NOT NULL REFERENCES finding ON DELETE CASCADE,
                source_id INTEGER NOT NULL REFERENCES source ON DELETE CASCADE,
                PRIMARY KEY (finding_id, source_id)
            ) STRICT, WITHOUT ROWID
            """,
            "CREATE INDEX finding_source_source ON finding_source (source_id)",
            """
            INSERT INTO finding_source
            SELECT DISTINCT finding.id, artifact.source_id
            FROM finding, json_each(finding.finding, '$.evidence') AS cited
            JOIN artifact ON artifact.id = json_extract(cited.value, '$.artifact')
            """,
            """
            CREATE TRIGGER finding_source_insert AFTER INSERT ON finding BEGIN
                INSERT INTO finding_source
                SELECT DISTINCT new.id, artifact.source_id FROM json_each(new.finding, '$.evidence') AS cited
                JOIN artifact ON artifact.id = json_extract(cited.value, '$.artifact');
            END
            """,
            # The highest revision that there ever was: it must not fall when the newest artifacts go, or what
            # comes next would look as old as what a run has seen.
            "CREATE TABLE newest (revision INTEGER NOT NULL) STRICT",
            """
            INSERT INTO newest SELECT max(
                (SELECT coalesce(max(revision), 0) FROM artifact),
                (SELECT coalesce(max(json_extract(record, '$.revision')), 0) FROM run WHERE record <> '')
            )
            """,
        ),
    ),
    (
        1002,
        (
            # A finding that is told anew may quote other sources.
            """
            CREATE TRIGGER finding_source_update AFTER UPDATE OF finding ON finding BEGIN
                INSERT OR IGNORE INTO finding_source
                SELECT DISTINCT new.id, artifact.source_id FROM json_each(new.finding, '$.evidence') AS cited
                JOIN artifact ON artifact.id = json_extract(cited.value, '$.artifact');
            END
            """,
        ),
    ),
    (1003, ("ALTER TABLE note ADD COLUMN heading TEXT NOT NULL DEFAULT ''",)),
)
