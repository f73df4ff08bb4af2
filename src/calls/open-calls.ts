import type { CallsAddress } from '../config/calls-address.ts';
import { CallDatabase } from './call-database.ts';
import { findSqlite, openSqlite } from './sqlite-calls.ts';

/** Opens the database, and creates its tables unless `readOnly`. Rejects with the reason why that is impossible now. */
export async function openCalls(
  address: CallsAddress,
  { readOnly }: { readonly readOnly: boolean },
): Promise<CallDatabase> {
  if (address.kind === 'postgres') {
    const { openPostgres } = await import('./postgres-calls.ts');
    return new CallDatabase(await openPostgres(address.url));
  }
  const sqlite = findSqlite();
  if (!sqlite.ok) throw new Error(sqlite.failure);
  return new CallDatabase(openSqlite(sqlite.value, address.path, readOnly));
}
