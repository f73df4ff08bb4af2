import { STATUS_CODES } from 'node:http';

export type HeaderList = ReadonlyArray<readonly [name: string, value: string]>;

export const JSON_TYPE: readonly [string, string] = ['content-type', 'application/json'];

/** Anything but printable ASCII. */
const UNSAFE = /[^ -~]/;

/**
 * Replaces every character that is not printable ASCII by `?`. uWebSockets.js writes header values unmodified: a CR or LF
 * would begin a header, or a response, of its own.
 */
export function headerValue(value: string): string {
  // Nearly all values are safe, and a test takes less time than a replacement.
  return UNSAFE.test(value) ? value.replaceAll(new RegExp(UNSAFE, 'g'), '?') : value;
}

const statusLines = new Map<number, string>();

/** `404 Not Found` */
export function statusLine(status: number): string {
  let line = statusLines.get(status);
  if (line === undefined) {
    line = `${status} ${STATUS_CODES[status] ?? 'Unknown'}`;
    statusLines.set(status, line);
  }
  return line;
}

/** Whether an answer ends with its headers, whatever the method (RFC 9110, 6.4.1); it has no length either. */
export function hasNoContent(status: number): boolean {
  return status === 204 || status === 304;
}

/** Compressed forms that are available, the smallest first. */
export type ContentEncoding = 'br' | 'gzip';

/**
 * The first of the offered forms that the client accepts, according to its `accept-encoding` header (RFC 9110, 12.5.3). Its
 * preferences among them do not matter: it gets the smallest.
 */
export function chooseEncoding(
  accepted: string | undefined,
  offered: readonly ContentEncoding[],
): ContentEncoding | undefined {
  if (accepted === undefined) return undefined;
  const codings = new Map<string, boolean>();
  for (const part of accepted.toLowerCase().split(',')) {
    const [coding = '', ...parameters] = part.split(';').map((word) => word.trim());
    codings.set(coding, !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter)));
  }
  return offered.find((coding) => codings.get(coding) ?? codings.get('*') ?? false);
}
