import { Pool, type PoolClient } from 'pg';
import type { CallDriver, Insert } from './call-database.ts';
import type { SqlRow, SqlValue } from './call-rows.ts';
import { migrationsAfter } from './migrations.ts';

/** Milliseconds to connect, and for one statement of a writer or a reader. */
const CONNECT_MS = 5_000;
const STATEMENT_MS = 30_000;

/** The number of parameters of one statement is a 16-bit integer in the protocol. */
const MOST_PARAMETERS = 65_000;

/** The key of the lock that one migration holds at a time: any number that others do not use. */
const MIGRATION_LOCK = 7_387_251;

/** Connects to the database and brings its tables up to date. Rejects with the error of the server. */
export async function openPostgres(url: string): Promise<CallDriver> {
  const pool = new Pool({
    connectionString: url,
    max: 2,
    connectionTimeoutMillis: CONNECT_MS,
    statement_timeout: STATEMENT_MS,
    query_timeout: STATEMENT_MS + CONNECT_MS,
    application_name: 'svc',
  });
  // A connection that breaks while it is idle; the next statement opens another one.
  pool.on('error', () => undefined);
  try {
    await inTransaction(pool, migrate);
  } catch (error) {
    await pool.end();
    throw error;
  }
  return new PostgresCalls(pool);
}

async function migrate(client: PoolClient): Promise<void> {
  await client.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
  await client.query('CREATE TABLE IF NOT EXISTS svc_calls_version (version INTEGER NOT NULL)');
  const { rows } = await client.query<{ readonly version: number }>('SELECT version FROM svc_calls_version');
  const missing = migrationsAfter('postgres', rows[0]?.version ?? 0);
  for (const { number, sql } of missing) {
    await client.query(sql);
    await client.query('DELETE FROM svc_calls_version');
    await client.query('INSERT INTO svc_calls_version VALUES ($1)', [number]);
  }
}

async function inTransaction(pool: Pool, work: (client: PoolClient) => Promise<void>): Promise<void> {
  const client = await pool.connect();
  let failure: Error | undefined;
  try {
    await client.query('BEGIN');
    await work(client);
    await client.query('COMMIT');
  } catch (error) {
    failure = error instanceof Error ? error : new Error(String(error));
    throw error;
  } finally {
    // After a failure, the connection ends, and the transaction with it.
    client.release(failure);
  }
}

/** A database that many machines can share. */
class PostgresCalls implements CallDriver {
  readonly like = 'ILIKE';
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  async all(sql: string, values: readonly SqlValue[] = []): Promise<readonly SqlRow[]> {
    return (await this.#pool.query<SqlRow>(numbered(sql), storable(values))).rows;
  }

  async run(sql: string, values: readonly SqlValue[] = []): Promise<number> {
    return (await this.#pool.query(numbered(sql), storable(values))).rowCount ?? 0;
  }

  insert(inserts: readonly Insert[]): Promise<void> {
    return inTransaction(this.#pool, async (client) => {
      for (const { into, columns, rows, onConflict = '' } of inserts) {
        const most = Math.floor(MOST_PARAMETERS / columns.length);
        const places = `(${columns.map(() => '?').join(', ')})`;
        for (let begin = 0; begin < rows.length; begin += most) {
          const part = rows.slice(begin, begin + most);
          const sql = `INSERT INTO ${into} (${columns.join(', ')}) VALUES ${part.map(() => places).join(', ')} ${onConflict}`;
          await client.query(numbered(sql), storable(part.flat()));
        }
      }
    });
  }

  size(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  close(): Promise<void> {
    return this.#pool.end();
  }
}

/** No statement has a question mark in a text. */
function numbered(sql: string): string {
  let count = 0;
  return sql.replaceAll('?', () => `$${String((count += 1))}`);
}

/** Postgres stores no NUL in a text. JSON text has it only as an escape. */
function storable(values: readonly SqlValue[]): SqlValue[] {
  return values.map((value) =>
    typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '') : value,
  );
}
