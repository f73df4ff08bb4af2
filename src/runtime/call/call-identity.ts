import { isCredentialName } from '../../base/credential-name.ts';
import { canonicalJson, compareText } from '../../base/json.ts';
import { PROVIDER_DESCRIPTIONS } from '../../schema/providers/providers.ts';
import { readVariable, resolveOptions, type CallEnvironment } from '../model/environment.ts';
import { singlePlans, type ClientPlan, type SinglePlan } from '../model/strategies/client-plan.ts';
import type { ReadyCall } from './prepare-call.ts';

/**
 * Returns text that is equal for two calls only if they are the same: their definitions, function, arguments, clients and options. The
 * order of keys in arguments does not matter, and neither do credentials of the server. Undefined for a call that no other call
 * equals: its request brings clients, variables or types, or asks for a trace.
 */
export function callIdentity(call: ReadyCall, programHash: string): string | undefined {
  const { decidesUpstream, include, onLoss, plan, requester, routeKey, tags, types } = call;
  if (decidesUpstream || types !== undefined || include.has('trace')) return undefined;
  return canonicalJson({
    program: programHash,
    function: call.functionName,
    args: call.args,
    clients: clientsText(plan, requester.environment),
    include: [...include].toSorted(compareText),
    onLoss,
    routeKey,
    tags: tags === undefined ? {} : Object.fromEntries(tags),
    // A caller that cannot name private addresses must not get what another one read there.
    privateUrls: requester.privateUrls,
  });
}

/** The text of each plan that functions have; others live as long as their request. */
const texts = new WeakMap<ClientPlan, string>();

/** The definitions of the clients are part of the program, so their names and the values of their variables complete them. */
function clientsText(plan: ClientPlan, environment: CallEnvironment): string {
  const known = texts.get(plan);
  if (known !== undefined) return known;
  const variables = new Map(singlePlans(plan).flatMap((single) => variableValues(single, environment)));
  const text = canonicalJson({ plan: namesOf(plan), variables: Object.fromEntries(variables) });
  texts.set(plan, text);
  return text;
}

function namesOf(plan: ClientPlan): readonly unknown[] {
  return plan.kind === 'single' ? [plan.name] : [plan.kind, plan.name, ...plan.members.map(namesOf)];
}

/** The variables on which a client depends, except for credentials. */
function variableValues(
  { source }: SinglePlan,
  environment: CallEnvironment,
): ReadonlyArray<readonly [string, string]> {
  const { options: given, provider } = source.definition;
  const { http, options } = PROVIDER_DESCRIPTIONS[provider];
  const read = resolveOptions(given, environment).reads.filter(({ option }) => options[option]?.secret !== true);
  const names = [
    ...read.map(({ variable }) => variable),
    ...Object.values(options).flatMap(({ fromVariables = [] }) => fromVariables),
    ...(http?.variables ?? []),
  ];
  return names
    .filter((name) => !isCredentialName(name))
    .map((name) => [name, readVariable(environment, name).value ?? ''] as const);
}
