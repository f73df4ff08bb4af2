import { isJsonObject } from '../base/json.ts';
import { err, ok, type Result } from '../base/result.ts';
import { didYouMeanOneOf } from '../base/suggestion.ts';
import {
  CLIENT_REGISTRY_POLICIES,
  PASSWORD_NAME,
  type CallerLimits,
  type ClientRegistryPolicy,
  type KeyEntry,
  type KeyFile,
} from './key-file.ts';
import { readYaml, shownValue } from './read-yaml.ts';

const FILE_MEMBERS = ['keys', 'default'] as const;

/** svc ignores the value of the last one, which is a note for people. */
const ENTRY_MEMBERS = [
  'name',
  'sha256',
  'functions',
  'client_registry',
  'limits',
  'expires',
  'disabled',
  'comment',
] as const;

const DEFAULT_MEMBERS = ['limits'] as const;

/** The limits, by their names in the file. */
export const LIMITS = {
  requests_per_minute: 'requestsPerMinute',
  tokens_per_minute: 'tokensPerMinute',
  in_flight: 'inFlight',
  cost_per_day: 'costPerDay',
} as const satisfies Readonly<Record<string, keyof CallerLimits>>;

const NAME = /^[a-z0-9._-]{1,64}$/u;

const CREATE = 'Run "svc keys create NAME" to create one.';

/**
 * Reads a key file in YAML or JSON. Returns one sentence about the first mistake, with the file, the entry and what is allowed.
 */
export function readKeys(path: string): Result<KeyFile, string> {
  const content = readYaml(path);
  return content.ok ? checkKeys(content.value, JSON.stringify(path)) : content;
}

/** Checks the content of such a file. `subject` begins the sentence about a mistake. */
export function checkKeys(content: unknown, subject: string): Result<KeyFile, string> {
  if (!isJsonObject(content)) return err(`${subject} has no list "keys". ${CREATE}`);
  const unknown = unknownMember(content, FILE_MEMBERS);
  if (unknown !== undefined) return err(`${subject} ${unknown}`);
  const { keys, default: defaults } = content;
  if (keys === undefined && defaults === undefined) return err(`${subject} has no list "keys". ${CREATE}`);
  const entries = keys === undefined ? ok(undefined) : readEntries(keys, subject);
  if (!entries.ok) return entries;
  const limits = defaults === undefined ? ok(undefined) : readDefaults(defaults);
  if (!limits.ok) return err(`${subject}, default: ${limits.failure}`);
  return ok({
    ...(entries.value !== undefined && { keys: entries.value }),
    ...(limits.value !== undefined && { defaultLimits: limits.value }),
  });
}

function readEntries(keys: unknown, subject: string): Result<readonly KeyEntry[], string> {
  if (!Array.isArray(keys)) return err(`${subject}: "keys" is ${shownValue(keys)}. Write a list. ${CREATE}`);
  const entries: KeyEntry[] = [];
  const places = new Map<string, string>();
  for (const [index, value] of keys.entries()) {
    const place = placeOf(index, value);
    const entry = readEntry(value);
    if (!entry.ok) return err(`${subject}, ${place}: ${entry.failure}`);
    for (const [what, text] of [['name', entry.value.name] as const, ['key', entry.value.sha256] as const]) {
      const earlier = places.get(`${what} ${text}`);
      if (earlier !== undefined) return err(`${subject}, ${place}: has the ${what} of ${earlier}. Remove one.`);
      places.set(`${what} ${text}`, place);
    }
    entries.push(entry.value);
  }
  return ok(entries);
}

function placeOf(index: number, value: unknown): string {
  const name = isJsonObject(value) ? value['name'] : undefined;
  return `entry ${index + 1}${typeof name === 'string' ? ` (${JSON.stringify(name.slice(0, 64))})` : ''}`;
}

function readDefaults(value: unknown): Result<CallerLimits, string> {
  if (!isJsonObject(value)) return err('must be a map. Write "{limits: {requests_per_minute: 60}}".');
  const unknown = unknownMember(value, DEFAULT_MEMBERS);
  return unknown === undefined ? readLimits(value['limits'] ?? {}) : err(unknown);
}

function readEntry(value: unknown): Result<KeyEntry, string> {
  if (!isJsonObject(value)) return err(`must be a map. ${CREATE}`);
  const { name, sha256, functions, client_registry: policy, disabled } = value;
  const fault =
    unknownMember(value, ENTRY_MEMBERS) ??
    nameFault(name) ??
    hashFault(sha256) ??
    functionsFault(functions) ??
    policyFault(policy) ??
    disabledFault(disabled);
  if (fault !== undefined) return err(fault);
  const limits = value['limits'] === undefined ? ok(undefined) : readLimits(value['limits']);
  if (!limits.ok) return limits;
  const expires = value['expires'] === undefined ? ok(undefined) : readExpiry(value['expires']);
  if (!expires.ok) return expires;
  // `nameFault` and its like checked the types.
  const checked = value as unknown as CheckedEntry;
  return ok({
    name: checked.name,
    sha256: checked.sha256.toLowerCase(),
    ...(checked.functions !== undefined && { functions: checked.functions }),
    ...(checked.client_registry !== undefined && { clientRegistry: checked.client_registry }),
    ...(limits.value !== undefined && { limits: limits.value }),
    ...(expires.value !== undefined && { expiresAt: expires.value }),
    ...(checked.disabled !== undefined && { disabled: checked.disabled }),
  });
}

interface CheckedEntry {
  readonly name: string;
  readonly sha256: string;
  readonly functions?: readonly string[];
  readonly client_registry?: ClientRegistryPolicy;
  readonly disabled?: boolean;
}

function unknownMember(value: Readonly<Record<string, unknown>>, known: readonly string[]): string | undefined {
  const unknown = Object.keys(value).find((key) => !known.includes(key));
  if (unknown === undefined) return undefined;
  return `has an unknown member ${JSON.stringify(unknown)}. ${didYouMeanOneOf(unknown, known)}`;
}

/** Names appear in logs, metrics and traces. */
export function nameFault(name: unknown): string | undefined {
  const allowed = 'Use 1 to 64 of the characters a-z, 0-9, ".", "_" and "-".';
  if (name === undefined) return `has no "name". ${allowed}`;
  if (typeof name !== 'string' || !NAME.test(name)) return `"name" is ${shownValue(name)}. ${allowed}`;
  return name === PASSWORD_NAME
    ? `"name" is "${PASSWORD_NAME}", the name of the key in SVC_PASSWORD. Use another one.`
    : undefined;
}

/** Does not quote the value: it can be a key that is not hashed. */
function hashFault(sha256: unknown): string | undefined {
  if (typeof sha256 === 'string' && /^[\da-f]{64}$/iu.test(sha256)) return undefined;
  const fault = sha256 === undefined ? 'has no "sha256"' : '"sha256" is not a SHA-256';
  return `${fault}. Write the SHA-256 of the key as 64 hexadecimal digits. ${CREATE}`;
}

function functionsFault(functions: unknown): string | undefined {
  if (functions === undefined || isFunctionList(functions)) return undefined;
  return '"functions" is not a list of names. Write a list such as ["ExtractResume", "Chat*"], or remove it to allow all functions.';
}

export function isFunctionList(value: unknown): value is readonly string[] {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((each) => typeof each === 'string' && /^[\w*]{1,256}$/u.test(each))
  );
}

function policyFault(policy: unknown): string | undefined {
  if (policy === undefined || CLIENT_REGISTRY_POLICIES.some((each) => each === policy)) return undefined;
  return `"client_registry" is ${shownValue(policy)}. Use one of ${CLIENT_REGISTRY_POLICIES.join(', ')}.`;
}

function disabledFault(disabled: unknown): string | undefined {
  if (disabled === undefined || typeof disabled === 'boolean') return undefined;
  return `"disabled" is ${shownValue(disabled)}. Use true or false.`;
}

function readLimits(value: unknown): Result<CallerLimits, string> {
  if (!isJsonObject(value))
    return err(`"limits" is ${shownValue(value)}. Write a map such as "{requests_per_minute: 60}".`);
  const unknown = unknownMember(value, Object.keys(LIMITS));
  if (unknown !== undefined) return err(`"limits" ${unknown}`);
  const limits: { -readonly [Name in keyof CallerLimits]: number } = {};
  for (const [member, name] of Object.entries(LIMITS)) {
    if (value[member] === undefined) continue;
    const limit = readLimit(member, value[member]);
    if (!limit.ok) return limit;
    limits[name] = limit.value;
  }
  return ok(limits);
}

/** A million dollars, and a billion of anything else: the ledger counts in whole numbers that stay exact. */
const LARGEST_COST = 1e6;
const LARGEST_COUNT = 1e9;

function readLimit(name: string, value: unknown): Result<number, string> {
  const isCost = name === 'cost_per_day';
  const number = typeof value === 'number' ? value : Number.NaN;
  if (isCost ? number > 0 && number <= LARGEST_COST : isCount(number)) return ok(number);
  const allowed = isCost
    ? `Write US dollars, more than 0 and at most ${LARGEST_COST}, such as 12.5.`
    : `Write a whole number from 1 to ${LARGEST_COUNT}; to stop a key, set "disabled: true".`;
  return err(`"${name}" is ${shownValue(value)}. ${allowed}`);
}

function isCount(number: number): boolean {
  return Number.isInteger(number) && number >= 1 && number <= LARGEST_COUNT;
}

const EXPIRY = /^(\d{4}-\d{2}-\d{2})(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2}))?$/u;

/** A date is valid until its end, in UTC. Returns milliseconds since 1970. */
export function readExpiry(value: unknown): Result<number, string> {
  const allowed = 'Write a date such as 2027-01-31, or a time with a zone such as 2027-01-31T18:00:00Z.';
  const text = typeof value === 'string' ? value : '';
  const date = EXPIRY.exec(text)?.[1];
  const at = date === undefined ? Number.NaN : Date.parse(text);
  const isDay = date !== undefined && isCalendarDay(date);
  if (!isDay || Number.isNaN(at)) return err(`"expires" is ${shownValue(value)}. ${allowed}`);
  return ok(text === date ? at + 86_400_000 : at);
}

/** Some engines read 2027-02-31 as a day in March. */
function isCalendarDay(date: string): boolean {
  const at = Date.parse(date);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(date);
}
