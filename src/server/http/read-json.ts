import { isUtf8 } from 'node:buffer';
import { isJsonObject } from '../../base/json.ts';
import { err, ok, type Result } from '../../base/result.ts';
import { excessOfJson, MAX_ARGUMENT_VALUES } from '../../base/json-text.ts';
import { problem, type Problem } from './problem.ts';
import type { HttpRequest } from './transport.ts';

/** `application/json` and every `+json` type; RFC 8259 allows no charset but UTF-8. */
const JSON_TYPE = /^\s*application\/(?:[\w.!#$&^+-]+\+)?json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?;?\s*$/i;

/** The pattern takes quadratic time on a long run of spaces. */
const LONGEST_TYPE = 200;

export interface JsonBody {
  readonly text: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/** The problem of a body that is not JSON according to its headers; the answer names the accepted type (RFC 9110, 15.5.16). */
export function mediaTypeProblem(request: HttpRequest): Problem | undefined {
  const type = request.header('content-type');
  // Without a body there is nothing to describe. Pages of other origins can send such a request too, but then it has an origin.
  if (type === undefined && !request.hasBody && request.header('origin') === undefined) return undefined;
  if (type === undefined || type.length > LONGEST_TYPE || !JSON_TYPE.test(type)) {
    return unsupported(
      'Send the body as "content-type: application/json", in UTF-8.',
      'accept-post',
      'application/json',
    );
  }
  const encoding = request.header('content-encoding') ?? 'identity';
  if (encoding.toLowerCase() === 'identity') return undefined;
  return unsupported('Send the body uncompressed.', 'accept-encoding', 'identity');
}

function unsupported(message: string, header: string, accepted: string): Problem {
  return problem('unsupported_media_type', message, {}, [[header, accepted]]);
}

/** Checks the limits on the depth, values and numbers of a body. To be called before any other code reads it. */
export function bodyProblem(bytes: Uint8Array): Problem | undefined {
  if (!isUtf8(bytes)) return problem('invalid_json', 'The body is not valid UTF-8.');
  const excess = excessOfJson(bytes, MAX_ARGUMENT_VALUES);
  return excess === undefined ? undefined : problem('invalid_json', `The body ${excess}.`);
}

/** Decodes a body that `bodyProblem` accepts. Skips a byte order mark, as RFC 8259 allows. */
export function textOf(bytes: Uint8Array): string {
  const start = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8', start);
}

/** Parses the JSON object in the text of a body. Of equal keys the last one counts, as everywhere in JavaScript. */
export function readJson(text: string): Result<JsonBody, Problem> {
  if (text.trim() === '') return err(problem('invalid_json', 'The body is empty: send a JSON object.'));
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return err(problem('invalid_json', `The body is not valid JSON: ${reason(error)}.`));
  }
  if (isJsonObject(value)) return ok({ text, value });
  const message = 'The body must be a JSON object with one key for each parameter.';
  return err(problem('invalid_argument', message, { details: [{ path: '', message }] }));
}

/** Checks, decodes and parses a body. */
export function jsonBodyOf(bytes: Uint8Array): Result<JsonBody, Problem> {
  const excess = bodyProblem(bytes);
  return excess === undefined ? readJson(textOf(bytes)) : err(excess);
}

/** V8 quotes the text around the fault, which can be long or private; the position suffices. */
function reason(error: unknown): string {
  const message = error instanceof Error ? error.message : '';
  const position = /at position \d+/.exec(message)?.[0];
  if (position !== undefined) return `there is a syntax error ${position}`;
  return message.includes('end of JSON') ? 'it ends too early' : 'it cannot be parsed';
}
