import { STATUS_CODES } from 'node:http';

const lines = new Map<number, string>();

/** `404 Not Found` */
export function statusLine(status: number): string {
  let line = lines.get(status);
  if (line === undefined) {
    line = `${status} ${STATUS_CODES[status] ?? 'Unknown'}`;
    lines.set(status, line);
  }
  return line;
}

/** Answers that end with their headers, whatever the method (RFC 9110, 6.4.1): they have no length either. */
export function hasNoContent(status: number): boolean {
  return status === 204 || status === 304;
}
