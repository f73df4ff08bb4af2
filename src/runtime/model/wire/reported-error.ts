import { isJsonObject } from '../../../base/json.ts';
import type { UpstreamFailure } from '../http/upstream-failure.ts';
import { countAt, stringAt } from './json-reading.ts';

/** Words in an error's type or code that mean: the same request will fail again. */
const FINAL =
  /invalid|validation|authentication|permission|access_?denied|not_?found|billing|insufficient_quota|content_filter|UNAUTH/iu;

/** An `error` object that arrived inside a reply of status 200, as a fault. */
export function reportedError(error: unknown): UpstreamFailure {
  const type = stringAt(error, 'type') ?? stringAt(error, 'status') ?? '';
  const code = stringAt(error, 'code') ?? countAt(error, 'code') ?? '';
  const message = typeof error === 'string' ? error : (stringAt(error, 'message') ?? textOf(error));
  const name = type === '' ? String(code) : type;
  const retryable = !FINAL.test(`${type} ${code}`) && !isFinalStatus(code);
  return { kind: 'reported', message: name === '' ? message : `${name}: ${message}`, retryable };
}

/** What a provider's error body says: its `error.message` or `message`, or the text itself. */
export function errorBodyText(body: string, parsed: unknown): string {
  // Google sends a list of one where it was asked for a stream.
  const holder: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
  if (!isJsonObject(holder)) return body.trim();
  const error = holder['error'];
  if (typeof error === 'string') return error;
  return stringAt(error, 'message') ?? stringAt(holder, 'message') ?? stringAt(holder, 'Message') ?? body.trim();
}

function textOf(error: unknown): string {
  if (!isJsonObject(error)) return NO_MESSAGE;
  try {
    return JSON.stringify(error).slice(0, 500);
  } catch {
    // JSON.parse reads any depth, JSON.stringify writes some thousand levels.
    return NO_MESSAGE;
  }
}

const NO_MESSAGE = 'no message';

function isFinalStatus(code: string | number): boolean {
  return typeof code === 'number' && code >= 400 && code < 500 && ![408, 409, 425, 429].includes(code);
}
