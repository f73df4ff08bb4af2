import type { JsonValue } from '../../base/json.ts';
import { nearestNames } from '../../base/suggestion.ts';
import type { MediaKind } from '../type.ts';
import {
  type OptionData,
  type OptionTable,
  type OptionValues,
  type OptionViolation,
  isMap,
  LONGEST_SUGGESTED,
  MAX_VIOLATIONS,
  readValue,
  unknownOption,
  UNKNOWN_TEXT,
} from './option-shapes.ts';
import type { StructuredForm } from './structured-output.ts';

/** One provider as data. The checker, the runtime and the tables of docs/clients.md all read it. */
export interface ProviderDescription<O extends OptionTable = OptionTable> {
  /** Its name in older definition files. */
  readonly legacyName?: string;
  readonly options: O;
  readonly rules: readonly OptionRule[];
  /**
   * Options that svc does not know: the provider receives them in the request body, or they are an error, or (in
   * definition files; a request must not bring them) they have no effect.
   */
  readonly otherOptions: 'body' | 'refused' | 'ignored';
  /** The body has temperature and the like inside one member, such as `generationConfig`, and not beside it. */
  readonly settingsOfModel?: 'nested';
  /** Requests without a model are possible, but nearly always refused. */
  readonly expectsModel?: true;
  /** Absent for the strategies and `offline`. */
  readonly http?: HttpFacts<O>;
  readonly docs: ProviderDocs;
}

/** The cells of the provider's row in docs/clients.md. */
export interface ProviderDocs {
  /** Absent where `http.defaultUrl` is the whole answer. */
  readonly address?: string;
  /** Absent where `http.keyVariable` is the whole answer. */
  readonly key?: string;
  readonly model: string;
}

/** Facts about a provider that svc reaches over HTTP. */
export interface HttpFacts<O extends OptionTable = OptionTable> {
  /** The roles of a client that lists none. */
  readonly roles: readonly string[];
  /** The role of text before the first role marker, if the client allows it. Otherwise, and if absent: the first role that it allows. */
  readonly defaultRole?: string;
  /** The variable with the key when the client gives none; absent when the provider needs none. */
  readonly keyVariable?: string;
  /** A client with headers of its own works without the key, which a gateway can add. */
  readonly headersReplaceKey?: true;
  /** Variables besides the key on which a client can depend. */
  readonly variables?: readonly string[];
  /** The address of the provider's own service; absent when each client has to give one. */
  readonly defaultUrl?: string;
  /** Origins of the provider's own service, where there are many: its variables can always go there. */
  readonly ownOrigins?: RegExp;
  /** The handling of media URLs unless the client decides; `send_url` for kinds that are not listed. */
  readonly mediaUrls: MediaUrls;
  /** The form in which the provider accepts the schema of a reply. */
  structured(values: OptionValues<O>): StructuredForm;
  /** The base of all URLs of a client, without a slash at its end. */
  url(values: OptionValues<O>): string;
}

export const MEDIA_URL_HANDLINGS = [
  'send_url',
  'send_base64',
  'send_url_add_mime_type',
  'send_base64_unless_google_url',
] as const;

export type MediaUrlHandling = (typeof MEDIA_URL_HANDLINGS)[number];

export type MediaUrls = Readonly<Partial<Record<MediaKind, MediaUrlHandling>>>;

/** A rule over several options. */
export type OptionRule =
  /** All options of at least one alternative are required. */
  | {
      readonly kind: 'requires';
      readonly alternatives: readonly (readonly string[])[];
      /** Completes a sentence that begins with the first option. */
      readonly message: string;
      /** Completes `The client "X" has no option "Y", …`. */
      readonly why: string;
    }
  | { readonly kind: 'excludes'; readonly options: readonly [string, string] }
  /** The value of an option is an item of a list. */
  | { readonly kind: 'role-of'; readonly option: string; readonly list: string }
  /** The keys of a map are items of a list, and at least one item has a number above 0. */
  | { readonly kind: 'weights-of'; readonly option: string; readonly list: string }
  /** An option without effect here, which would be a mistake about the meaning of the client. `why` completes a sentence. */
  | { readonly kind: 'refuses'; readonly option: string; readonly why: string };

/** The options of one client, read according to the description of its provider. */
export interface ReadOptions<O extends OptionTable = OptionTable> {
  /** Valid only when there are no violations. */
  readonly values: OptionValues<O>;
  /** The members of the request body, in the order in which they were written. */
  readonly body: ReadonlyMap<string, JsonValue>;
  readonly violations: readonly OptionViolation[];
}

/**
 * Reads and checks the options of a client. Null counts as absent. `variable` returns the value of an environment
 * variable; without it, as in the checker, every variable counts as set to an unknown string.
 */
export function readOptions<O extends OptionTable>(
  description: ProviderDescription<O>,
  data: ReadonlyMap<string, OptionData>,
  variable?: (name: string) => string | undefined,
): ReadOptions<O> {
  const violations: OptionViolation[] = [];
  const values: Record<string, unknown> = {};
  const given = new Map<string, OptionData>();
  for (const [key, { shape, fromVariables = [], default: fallback }] of Object.entries(description.options)) {
    const value = data.get(key) ?? firstVariable(fromVariables, variable);
    if (value !== undefined) given.set(key, value);
    const read = value ?? fallback;
    values[key] = read === undefined ? undefined : readValue(shape, read, [key], violations);
  }
  for (const rule of description.rules)
    violations.push(...ruleViolations(rule, rule.kind === 'refuses' ? data : given));
  violations.push(...otherViolations(description, data));
  const body = bodyOf(description, data);
  // The type of each value derives from the shape that read it.
  return { values: values as OptionValues<O>, body, violations };
}

function firstVariable(
  names: readonly string[],
  variable: ((name: string) => string | undefined) | undefined,
): string | typeof UNKNOWN_TEXT | undefined {
  if (variable === undefined) return names.length === 0 ? undefined : UNKNOWN_TEXT;
  for (const name of names) {
    const value = variable(name);
    if (value !== undefined) return value;
  }
  return undefined;
}

function bodyOf({ options, otherOptions }: ProviderDescription, data: ReadonlyMap<string, OptionData>): Body {
  const body = new Map<string, JsonValue>();
  for (const [key, value] of data) {
    const known = Object.hasOwn(options, key) ? options[key] : undefined;
    const isMember = known === undefined ? otherOptions === 'body' : known.inBody === true;
    // Only the checker's data has unknown values, and the checker sends nothing.
    if (isMember) body.set(key, value as JsonValue);
  }
  return body;
}

type Body = ReadonlyMap<string, JsonValue>;

function otherViolations(
  { options, otherOptions, rules }: ProviderDescription,
  data: ReadonlyMap<string, OptionData>,
): readonly OptionViolation[] {
  if (otherOptions === 'body') return [];
  const refused = new Set(rules.flatMap((rule) => (rule.kind === 'refuses' ? [rule.option] : [])));
  const others = [...data.keys()].filter((key) => !Object.hasOwn(options, key) && !refused.has(key));
  const kind = otherOptions === 'refused' ? 'unknown' : 'unused';
  return others.slice(0, MAX_VIOLATIONS).map((key) => unknownOption(kind, [key], Object.keys(options)));
}

function ruleViolations(rule: OptionRule, given: ReadonlyMap<string, OptionData>): readonly OptionViolation[] {
  switch (rule.kind) {
    case 'requires':
      return requirement(rule, given);
    case 'excludes': {
      const [first, second] = rule.options;
      if (!given.has(first) || !given.has(second)) return [];
      const message = `cannot be combined with "${first}": choose one of the two`;
      return [{ kind: 'excluded', path: [second], message, other: first }];
    }
    case 'role-of': {
      const role = given.get(rule.option);
      const roles = given.get(rule.list);
      if (typeof role !== 'string' || !isTexts(roles) || roles.length === 0 || roles.includes(role)) return [];
      const message = `has to be one of the allowed roles: ${roles.join(', ')}`;
      return [{ kind: 'role', path: [rule.option], message, allowed: roles }];
    }
    case 'weights-of':
      return weightViolations(rule.option, given.get(rule.option), given.get(rule.list));
    case 'refuses':
      return given.has(rule.option)
        ? [{ kind: 'name', path: [rule.option], message: `is not an option of this provider: ${rule.why}` }]
        : [];
  }
}

function requirement(
  { alternatives, message, why }: Extract<OptionRule, { kind: 'requires' }>,
  given: ReadonlyMap<string, OptionData>,
): readonly OptionViolation[] {
  if (alternatives.some((options) => options.every((key) => given.has(key)))) return [];
  // An alternative with one of its options is the intended one.
  const intended = alternatives.find((options) => options.some((key) => given.has(key)));
  if (intended === undefined)
    return [{ kind: 'missing', path: [alternatives[0]?.[0] ?? ''], message, why, alternatives }];
  const absent = intended.filter((key) => !given.has(key));
  return absent.map((key) => ({
    kind: 'missing',
    path: [key],
    message: `is required together with ${intended
      .filter((other) => other !== key)
      .map((other) => `"${other}"`)
      .join(', ')}`,
    why,
    alternatives: [[key]],
  }));
}

function weightViolations(
  option: string,
  weights: OptionData | undefined,
  members: OptionData | undefined,
): readonly OptionViolation[] {
  if (weights === undefined || !isMap(weights) || !isTexts(members)) return [];
  const names = new Set(members);
  const unknown = Object.keys(weights).filter((name) => !names.has(name));
  if (unknown.length > 0) {
    return unknown.slice(0, MAX_VIOLATIONS).map((name) => {
      const [nearest] = name.length > LONGEST_SUGGESTED ? [] : nearestNames(name, members);
      const hint = nearest === undefined ? '' : `; the nearest is "${nearest}"`;
      return { kind: 'name', path: [option, name], message: `is not a member of the strategy${hint}` };
    });
  }
  const hasZero = (name: string): boolean => Object.hasOwn(weights, name) && isZero(weights[name]);
  if (members.length === 0 || !members.every(hasZero)) return [];
  return [{ kind: 'value', path: [option], message: 'has to give at least one member a weight above 0' }];
}

/** Digits can come from a variable, which the checker does not know. */
function isZero(weight: OptionData | undefined): boolean {
  return weight === 0 || (typeof weight === 'string' && /^0+$/u.test(weight));
}

/** A list with an unknown role could allow every role. */
function isTexts(value: OptionData | undefined): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}
