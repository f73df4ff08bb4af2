import { errorText } from './upstream-failure.ts';
import type { UpstreamFailure } from './upstream-failure.ts';

/**
 * True when a connection ended that had been used before: its error says how much it had read (see SocketWatch). What
 * is no end but nonsense, such as a bad status line, is an answer.
 */
export function endedAfterUse(error: Error): boolean {
  if (!ENDS.has(codeOf(error)) || error.message.startsWith('bad ')) return false;
  if (!('socket' in error) || typeof error.socket !== 'object' || error.socket === null) return false;
  return 'bytesRead' in error.socket && typeof error.socket.bytesRead === 'number' && error.socket.bytesRead > 0;
}

/** Reset, closed for writing, and what undici calls a connection that the other side closed. */
const ENDS: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

function codeOf(error: Error): unknown {
  return 'code' in error ? error.code : undefined;
}

/** An error of undici as a fault; `begun`: a status had come. */
export function networkFault(error: Error, begun: boolean): UpstreamFailure {
  const code = codeOf(error);
  if (code === 'SVC_FORBIDDEN_ADDRESS') return { kind: 'forbidden', message: error.message };
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return { kind: 'network', message: 'did not take the connection in time' };
  if (begun) return { kind: 'cut', message: `broke off in the middle of its reply: ${errorText(error)}` };
  return { kind: 'network', message: errorText(error) };
}
