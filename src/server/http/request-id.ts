import { randomBytes } from 'node:crypto';

/** What a caller may choose: safe in a header, a log line and a shell. */
const ACCEPTED = /^[A-Za-z0-9._-]{1,128}$/;

/** Different for every process, so that numbers can follow: cheaper than a random id for each request. */
const prefix = randomBytes(6).toString('hex');
let count = 0;

/** The caller's id when it has the accepted form, otherwise one of ours. */
export function requestId(given: string | undefined): string {
  if (given !== undefined && ACCEPTED.test(given)) return given;
  count += 1;
  return `${prefix}-${count.toString(36)}`;
}
