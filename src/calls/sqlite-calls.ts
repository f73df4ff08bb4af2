import { closeSync, mkdirSync, openSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { err, ok, type Result } from '../base/result.ts';
import type { CallDriver, Insert } from './call-database.ts';
import type { SqlRow, SqlValue } from './call-rows.ts';
import { migrationsAfter } from './migrations.ts';

/** What `node:sqlite` and `better-sqlite3` have in common. */
interface Database {
  exec(sql: string): unknown;
  prepare(sql: string): Statement;
  close(): void;
}

interface Statement {
  all(...values: readonly SqlValue[]): unknown[];
  run(...values: readonly SqlValue[]): { readonly changes: number | bigint };
}

export type OpenSqlite = (path: string, readOnly: boolean) => Database;

/**
 * Returns `node:sqlite`, or `better-sqlite3` as installed beside svc or in the working directory. The failure states how to install
 * it.
 */
export function findSqlite(): Result<OpenSqlite, string> {
  return builtIn() ?? installed() ?? err(MISSING);
}

const MISSING = 'SQLite needs Node 22.13 or later, or the package better-sqlite3: run "npm install better-sqlite3@12"';

function builtIn(): Result<OpenSqlite, string> | undefined {
  // Older versions of Node 22 have it only with a flag.
  const sqlite = process.getBuiltinModule('node:sqlite') as
    | { readonly DatabaseSync: new (path: string, options: { readonly readOnly: boolean }) => Database }
    | undefined;
  return sqlite === undefined ? undefined : ok((path, readOnly) => new sqlite.DatabaseSync(path, { readOnly }));
}

function installed(): Result<OpenSqlite, string> | undefined {
  for (const from of [import.meta.url, join(process.cwd(), 'package.json')]) {
    try {
      const load = createRequire(from);
      const Sqlite = load('better-sqlite3') as new (path: string, options: { readonly readonly: boolean }) => Database;
      // It loads its binary only now.
      new Sqlite(':memory:', { readonly: false }).close();
      return ok((path, readonly) => new Sqlite(path, { readonly }));
    } catch {
      // It is not there, or has no binary for this version of Node.
    }
  }
  return undefined;
}

/** How long a statement waits while another process writes, in milliseconds. */
const BUSY_MS = 5_000;

/** The cache of pages, in KiB. */
const CACHE_KIB = 16_384;

/**
 * Opens the file, which only this user can read, and brings its tables up to date. Readers do not wait for writers. Throws an error of
 * SQLite or of the file system.
 */
export function openSqlite(open: OpenSqlite, path: string, readOnly: boolean): CallDriver {
  if (!readOnly) {
    mkdirSync(dirname(path), { recursive: true });
    closeSync(openSync(path, 'a', 0o600));
  }
  const database = open(path, readOnly);
  database.exec(`PRAGMA busy_timeout = ${String(BUSY_MS)}; PRAGMA cache_size = -${String(CACHE_KIB)}`);
  if (!readOnly) {
    // The first two have an effect only before the first table exists. A call takes some KB, so it fits a page of 16 KB.
    database.exec('PRAGMA page_size = 16384; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL');
    database.exec('PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON');
  }
  migrate(database, readOnly);
  return new SqliteCalls(database);
}

function migrate(database: Database, readOnly: boolean): void {
  const version = () => Number(pragma(database, 'user_version'));
  const missing = migrationsAfter('sqlite', version());
  if (missing.length === 0) return;
  if (readOnly)
    throw new Error('it has no kept calls, or those of an older version of svc: start a server with it first');
  database.exec('BEGIN IMMEDIATE');
  try {
    // Another process can have been faster.
    for (const { number, sql } of migrationsAfter('sqlite', version())) {
      database.exec(sql);
      database.exec(`PRAGMA user_version = ${String(number)}`);
    }
    database.exec('COMMIT');
  } catch (error) {
    database.exec('ROLLBACK');
    throw error;
  }
}

function pragma(database: Database, name: string): unknown {
  const [row] = database.prepare(`PRAGMA ${name}`).all() as readonly SqlRow[];
  return Object.values(row ?? {})[0];
}

/** Statements that are compiled once; their texts depend on filters. */
const MAX_STATEMENTS = 50;

/** A database in a file. Its calls block the thread. */
class SqliteCalls implements CallDriver {
  readonly like = 'LIKE';
  readonly #database: Database;
  readonly #statements = new Map<string, Statement>();

  constructor(database: Database) {
    this.#database = database;
  }

  all(sql: string, values: readonly SqlValue[] = []): Promise<readonly SqlRow[]> {
    return promised(() => this.#prepared(sql).all(...values) as readonly SqlRow[]);
  }

  run(sql: string, values: readonly SqlValue[] = []): Promise<number> {
    return promised(() => Number(this.#prepared(sql).run(...values).changes));
  }

  insert(inserts: readonly Insert[]): Promise<void> {
    return promised(() => this.#insert(inserts));
  }

  #insert(inserts: readonly Insert[]): void {
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      for (const { into, columns, rows, onConflict = '' } of inserts) {
        const places = columns.map(() => '?').join(', ');
        const sql = `INSERT INTO ${into} (${columns.join(', ')}) VALUES (${places}) ${onConflict}`;
        const statement = this.#prepared(sql);
        for (const row of rows) statement.run(...row);
      }
      this.#database.exec('COMMIT');
    } catch (error) {
      this.#rollBack();
      throw error;
    }
  }

  size(): Promise<number> {
    return promised(() => {
      this.#database.exec('PRAGMA incremental_vacuum');
      const number = (name: string) => Number(pragma(this.#database, name));
      return (number('page_count') - number('freelist_count')) * number('page_size');
    });
  }

  close(): Promise<void> {
    return promised(() => {
      this.#statements.clear();
      this.#database.close();
    });
  }

  #rollBack(): void {
    try {
      this.#database.exec('ROLLBACK');
    } catch {
      // SQLite ended the transaction itself, because the disk is full.
    }
  }

  #prepared(sql: string): Statement {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    if (this.#statements.size >= MAX_STATEMENTS) this.#statements.clear();
    const statement = this.#database.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }
}

/** An exception of SQLite becomes a rejection. */
function promised<T>(work: () => T): Promise<T> {
  return new Promise((resolve) => resolve(work()));
}
