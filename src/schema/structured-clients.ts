import { isJsonObject, ownValue, type JsonValue } from '../base/json.ts';
import { resolveValue, strategyMembers, type ClientType } from './client.ts';
import type { DefinitionIndex } from './definition-index.ts';
import type { FunctionType } from './function.ts';
import { UNKNOWN_TEXT } from './providers/option-shapes.ts';
import { readOptions, type HttpFacts, type ReadOptions } from './providers/provider-description.ts';
import { isStrategy, PROVIDER_DESCRIPTIONS } from './providers/providers.ts';
import type { StructuredForm } from './providers/structured-output.ts';
import { StructuredOutputs } from './structured-output.ts';

/**
 * The structured output of a client: none, a form, or the reason why the client cannot use one, which completes a sentence
 * that begins with the client.
 */
export type ClientStructure =
  | { readonly kind: 'off' }
  | { readonly kind: 'unavailable'; readonly reason: string }
  | { readonly kind: 'form'; readonly form: StructuredForm };

const OFF: ClientStructure = { kind: 'off' };

/** Decides by the options of a client, for the checker and for calls. An option that the checker does not know does not exclude a form. */
export function structureOf(
  http: HttpFacts | undefined,
  { values, body }: Pick<ReadOptions, 'values' | 'body'>,
): ClientStructure {
  const mode = values['structured_output'];
  if (http === undefined || (mode !== 'auto' && mode !== 'on')) return OFF;
  const form = http.structured(values);
  const reason = unavailability(form, values, body) ?? (mode === 'auto' ? doubt(form, values) : undefined);
  return reason === undefined ? { kind: 'form', form } : { kind: 'unavailable', reason };
}

function unavailability(
  { excludedBy }: StructuredForm,
  values: Readonly<Record<string, unknown>>,
  body: ReadonlyMap<string, JsonValue>,
): string | undefined {
  if (values['client_response_type'] !== undefined)
    return 'sets "client_response_type", so svc does not know the provider';
  const own = excludedBy.find((path) => isSet(path, values, body));
  return own === undefined ? undefined : `sets "${own}" itself`;
}

function isSet(path: string, values: Readonly<Record<string, unknown>>, body: ReadonlyMap<string, JsonValue>): boolean {
  const [first = '', ...rest] = path.split('.');
  let value: unknown = body.get(first) ?? ownValue(values, first);
  for (const step of rest) value = isJsonObject(value) ? ownValue(value, step) : undefined;
  // `thinking { type "disabled" }` of Anthropic.
  return value !== undefined && value !== null && !(isJsonObject(value) && value['type'] === 'disabled');
}

/** The reason why `auto` does not use the form. */
function doubt(
  { unknownServer, without, only }: StructuredForm,
  values: Readonly<Record<string, unknown>>,
): string | undefined {
  if (unknownServer === true)
    return 'can use any server. If that server supports schemas, write `structured_output on`';
  const model = [values['model'], values['model_id']].find((each) => typeof each === 'string');
  if (typeof model !== 'string') return undefined;
  if (without?.test(model) === true) return `uses the model "${model}", which does not support schemas`;
  if (only?.test(model) === false) {
    return `uses the model "${model}", which svc does not know. If it supports schemas, write \`structured_output on\``;
  }
  return undefined;
}

/** Returns the names of the clients that a client can lead to, through strategies, each with its structured output. */
export function structuresOf(name: string, { clients }: DefinitionIndex): ReadonlyMap<string, ClientStructure> {
  const found = new Map<string, ClientStructure>();
  const names = new Set([name]);
  for (const each of names) {
    const client = clients.get(each);
    // A shorthand has no options.
    if (client === undefined) found.set(each, OFF);
    else if (isStrategy(client.provider)) for (const member of strategyMembers(client)) names.add(member);
    else found.set(each, structureOfClient(client));
  }
  return found;
}

/** A client that a function can call, and the structured output of its replies. */
export interface StructuredClient {
  readonly client: string;
  readonly structure: ClientStructure;
  /** The reason why the provider does not support the return type; completes a sentence that begins with the type. */
  readonly problem?: string;
}

/** Returns the clients of a function. Those with a form and without a problem send the schema of its return type. */
export function structuredClients(fn: FunctionType, index: DefinitionIndex): readonly StructuredClient[] {
  const outputs = new StructuredOutputs(fn, index);
  return [...structuresOf(fn.client, index)].map(([client, structure]) => {
    const output = structure.kind === 'form' ? outputs.of(structure.form.limits) : undefined;
    return { client, structure, ...(output?.ok === false ? { problem: output.failure } : {}) };
  });
}

/** True if every client of the function sends the schema of the return type. The prompt then need not describe it. */
export function isAlwaysStructured(clients: readonly StructuredClient[]): boolean {
  return (
    clients.length > 0 && clients.every(({ structure, problem }) => structure.kind === 'form' && problem === undefined)
  );
}

function structureOfClient({ provider, options }: ClientType): ClientStructure {
  if (!options.some(({ key }) => key === 'structured_output')) return OFF;
  const description = PROVIDER_DESCRIPTIONS[provider];
  const read = readOptions(
    description,
    new Map(options.map(({ key, value }) => [key, resolveValue(value, () => UNKNOWN_TEXT)])),
  );
  return structureOf(description.http, read);
}
