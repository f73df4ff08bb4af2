import type { JsonObject } from '../../../base/json.ts';
import { headerRef } from './error-responses.ts';

const TEXT: JsonObject = { type: 'string' };
const COUNT: JsonObject = { type: 'integer', minimum: 0 };

/** Component name, header, schema and meaning. */
const HEADERS: ReadonlyArray<readonly [string, string, JsonObject, string]> = [
  ['RequestId', 'x-request-id', TEXT, 'Names this request in the logs: the one that came with it, or a new one.'],
  ['Client', 'x-svc-client', TEXT, 'The client that answered.'],
  ['Model', 'x-svc-model', TEXT, 'The model that answered.'],
  ['Attempts', 'x-svc-attempts', COUNT, 'How many attempts it took.'],
  ['InputTokens', 'x-svc-input-tokens', COUNT, 'Tokens of the prompt, where the provider says so.'],
  ['OutputTokens', 'x-svc-output-tokens', COUNT, 'Tokens of the reply, where the provider says so.'],
  ['RetryAfter', 'retry-after', COUNT, 'Seconds after which to try again.'],
  ['Allow', 'allow', TEXT, 'The methods that the path takes.'],
];

const OF_CALLS = new Set(['RequestId', 'Client', 'Model', 'Attempts', 'InputTokens', 'OutputTokens']);

export function headerComponents(): JsonObject {
  return Object.fromEntries(HEADERS.map(([name, , schema, description]) => [name, { description, schema }]));
}

/** The headers of a successful call. */
export function callHeaders(): JsonObject {
  const ofCalls = HEADERS.filter(([name]) => OF_CALLS.has(name));
  return Object.fromEntries(ofCalls.map(([name, header]) => [header, headerRef(name)]));
}

/** The headers of everything else. */
export function plainHeaders(): JsonObject {
  return { 'x-request-id': headerRef('RequestId') };
}
