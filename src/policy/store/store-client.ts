import { codeOf } from '../../base/invariant.ts';
import type { StoreOperation } from './scripts.ts';

/** A connection that restores itself. */
export interface StoreClient {
  /** Whether the store accepts operations now. */
  readonly ready: boolean;
  /** Runs a script. Rejects with the error of the store or of the connection; the answer of a slow store can take long. */
  run(operation: StoreOperation, keys: readonly string[], args: ReadonlyArray<string | number>): Promise<unknown>;
  /** Calls `listener` when the connection becomes ready, and with the error when it ends or cannot be made. */
  onChange(listener: (error: unknown) => void): void;
  close(): void;
}

/** The code of an error, such as ECONNREFUSED or WRONGPASS. Messages can quote addresses, users and arguments. */
export function errorCode(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const code = codeOf(error);
  if (code !== undefined) return code;
  if ('lastNodeError' in error && error.lastNodeError !== undefined) return errorCode(error.lastNodeError);
  if (error.message.startsWith('Socket timeout')) return 'ETIMEDOUT';
  return /^-?(?<code>[A-Z]{3,})\b/u.exec(error.message)?.groups?.['code'] ?? 'unknown';
}
