import { compileCondition } from '../prompt/compile-condition.ts';
import { InternalError } from '../../base/invariant.ts';
import { err, type Result } from '../../base/result.ts';
import { indexDefinitions, type Program } from '../../schema/program.ts';
import { showsState } from '../../schema/type-graph.ts';
import { type ClientSource, readVariable, resolveOptions, type CallEnvironment } from '../model/client-options.ts';
import { DeclaredHosts } from '../model/credential-rule.ts';
import { ConnectionPools } from '../model/http/connection-pools.ts';
import { cloudMachine } from '../model/providers/cloud-credential.ts';
import { loadProviders } from '../model/providers/providers.ts';
import { createOfflineAnswers } from '../model/providers/offline.ts';
import { clientsOfFiles, type ClientPlan, singlePlans, type SinglePlan } from '../model/strategies/client-plan.ts';
import { memberForKey, memberForTurn } from '../model/strategies/strategy-members.ts';
import { roundRobinTurns } from '../model/strategies/run-plan.ts';
import { createPromptRenderer, type PromptRenderer } from '../prompt/create-prompt-renderer.ts';
import type { Message } from '../../schema/message.ts';
import { createArgumentChecker } from '../arguments/check-arguments.ts';
import { ArgumentValidators } from '../arguments/load-validators.ts';
import type { CallTypes } from './call-types.ts';
import { ClientDirectory } from './client-directory.ts';
import { DynamicTypes } from './dynamic-types.ts';
import { argumentTokens, textTokens } from './estimate-tokens.ts';
import type { Failure } from '../../schema/failure.ts';
import { FunctionReplies } from './function-replies.ts';
import { FunctionRun, type RunServices } from './function-run.ts';
import { parseReply, parseText, refuseLosses } from './parse-reply.ts';
import {
  prepareReply,
  ReadyCall,
  functionNotFound,
  unreadableFailure,
  prepareCall,
  type PrepareServices,
  TargetVariables,
} from './prepare-call.ts';
import type {
  ReplyOutcome,
  CallContext,
  CallOrigin,
  CallOutcome,
  Connections,
  FunctionRuntime,
  FunctionStream,
  LoadedTypes,
  PreparedCall,
  PreparedReply,
  RuntimeOptions,
  StreamObserver,
} from './runtime.ts';
import { uncreatedClientFailure } from '../model/attempt-failure.ts';
import { StreamReader, WholeReader } from './reply-reader.ts';
import { isCredentialName } from '../../base/credentials.ts';
import { canonicalJson, compareText } from '../../base/json.ts';
import { PROVIDER_DESCRIPTIONS } from '../../schema/providers/providers.ts';

/** Creates the runtime of a program. It keeps connections to providers until `close`. */
export function createRuntime(program: Program, options: RuntimeOptions): FunctionRuntime {
  return new ProgramRuntime(program, options);
}

class ProgramRuntime implements FunctionRuntime {
  readonly functionNames: readonly string[];
  readonly #prepare: PrepareServices;
  readonly #run: RunServices;
  readonly #renderer: PromptRenderer;
  readonly #pools: ConnectionPools;
  readonly #validators: ArgumentValidators;
  readonly #functions = new Map<string, CallTypes>();
  readonly #parameters = new Map<string, ReadonlySet<string>>();
  readonly #types: DynamicTypes;
  readonly #hash: string;

  constructor(program: Program, options: RuntimeOptions) {
    const definitions = indexDefinitions(program);
    this.#hash = program.hash;
    this.#validators = new ArgumentValidators(options.validatorSource);
    this.#types = new DynamicTypes(program, this.#validators, options.typeSource);
    loadProviders(program.clients);
    this.functionNames = [...definitions.functions.keys()];
    for (const { name, parameters } of definitions.functions.values()) {
      this.#parameters.set(name, new Set(parameters.map((parameter) => parameter.name)));
    }
    this.#pools = new ConnectionPools(options.env, undefined, options.maxReplyBytes);
    const { clients, shorthands } = clientsOfFiles(program);
    const services = {
      pools: this.#pools,
      declaredHosts: new DeclaredHosts(clients, options.env),
      offline: createOfflineAnswers(definitions),
      hide: options.hide,
      prices: options.prices,
      machine: cloudMachine(),
    };
    const directory = new ClientDirectory({ definitions, env: options.env, services, shorthands });
    this.#prepare = {
      definitions,
      directory,
      checkArguments: createArgumentChecker(program, this.#validators, compileCondition),
      options,
      plans: new Map(),
      targetVariables: new TargetVariables(program.clients),
    };
    const turn = roundRobinTurns(options.roundRobinTurn);
    const renderer = createPromptRenderer(program, (functionName) => this.#validators.of(functionName).createFits());
    this.#renderer = renderer;
    this.#run = { options, directory, turn, implausible: new Set(), madeUp: new Set() };
  }

  has(functionName: string): boolean {
    return this.#prepare.definitions.functions.has(functionName);
  }

  parameters(functionName: string): ReadonlySet<string> | undefined {
    return this.#parameters.get(functionName);
  }

  load(functionName: string, body: unknown, origin?: CallOrigin): LoadedTypes | Promise<LoadedTypes> {
    const fn = this.#prepare.definitions.functions.get(functionName);
    if (fn === undefined) return undefined;
    const validators = this.#validators.load(functionName);
    const types = this.#types.load(fn, body, origin);
    return validators === undefined ? types : validators.then(() => types);
  }

  prepare(
    functionName: string,
    body: unknown,
    origin?: CallOrigin,
    loaded?: LoadedTypes,
  ): Result<PreparedCall, Failure> {
    return prepareCall(this.#prepare, functionName, body, { loaded, origin });
  }

  estimateTokens(prepared: PreparedCall, body: string): number {
    if (!(prepared instanceof ReadyCall)) return textTokens(body);
    const { fn, args, plan, routeKey, types } = prepared;
    const { provider } = firstClient(plan, routeKey).definition;
    return argumentTokens(body, { fn, args, provider }, types?.definitions ?? this.#prepare.definitions);
  }

  call(prepared: PreparedCall, context: CallContext): Promise<CallOutcome> {
    const call = ready(prepared);
    const types = this.#typesOf(call);
    const reader = new WholeReader(types.replies, this.#run.options);
    return new FunctionRun({ services: this.#run, types, call, context, reader }).run();
  }

  stream(prepared: PreparedCall, context: CallContext, observer: StreamObserver): FunctionStream {
    const call = ready(prepared);
    const types = this.#typesOf(call);
    const reader = new StreamReader(types.replies, this.#run.options, observer, call.functionName);
    const run = new FunctionRun({ services: this.#run, types, call, context, reader });
    // The observer is called on a later turn of the event loop.
    setImmediate(() => {
      void run.run().then((outcome) => observer.ended(outcome));
    });
    return {
      takePartial: () => reader.takePartial(),
      isBehind: () => reader.isBehind,
      isMadeUp: () => run.isMadeUp,
      coalesceReads: (forMs) => run.coalesceReads(forMs),
      pause: () => run.pause(),
      resume: () => run.resume(),
    };
  }

  identity(prepared: PreparedCall): string | undefined {
    return callIdentity(ready(prepared), this.#hash);
  }

  hasPlainPartials(prepared: PreparedCall): boolean {
    const call = ready(prepared);
    const definitions = call.types?.definitions ?? this.#prepare.definitions;
    const fn = definitions.functions.get(call.functionName) ?? call.fn;
    return !showsState(fn.returns, definitions);
  }

  render(prepared: PreparedCall): Result<readonly Message[], Failure> {
    const call = ready(prepared);
    const source = firstClient(call.plan, call.routeKey);
    const { renderer } = this.#typesOf(call);
    const client = this.#run.directory.prompt(source, call.requester);
    if (!client.ok) return err(uncreatedClientFailure(source.definition.name, client.failure));
    return renderer.render(call.functionName, call.args, client.value, call.tags);
  }

  prepareReply(functionName: string, body: unknown, loaded?: LoadedTypes): Result<PreparedReply, Failure> {
    const { definitions, options } = this.#prepare;
    const fn = definitions.functions.get(functionName);
    if (fn === undefined) return err(functionNotFound(definitions, functionName));
    if (fn.unreadable !== undefined) return err(unreadableFailure(fn.unreadable));
    const { onLoss, typeSource } = options;
    return prepareReply(functionName, body, { onLoss, typeSource, loaded });
  }

  async parseReply(prepared: PreparedReply, context: CallContext): Promise<ReplyOutcome> {
    const { explain, functionName, onLoss, text } = prepared;
    const { cancellation, deadlineMs } = context;
    const { extension, replies } = this.#typesOf(prepared);
    const wrapped = replies.canBeWrapped;
    const deadlineAt = performance.now() + deadlineMs;
    const reply = { functionName, text, wrapped, explain, extension, cancellation, deadlineAt };
    const here = parseText(replies.parserFor(wrapped), { text, explain });
    const outcome = await parseReply(reply, this.#prepare.options, here);
    return refuseLosses(outcome, onLoss, text);
  }

  connections(): Connections {
    const { origins, counts } = this.#pools;
    return { origins, counts };
  }

  close(): Promise<void> {
    return this.#pools.close();
  }

  #typesOf({ types, functionName }: Pick<PreparedReply, 'types' | 'functionName'>): CallTypes {
    return types ?? this.#ownTypes(functionName);
  }

  /** Created at the first call of the function, and kept. */
  #ownTypes(functionName: string): CallTypes {
    const known = this.#functions.get(functionName);
    if (known !== undefined) return known;
    const { checkArguments, definitions } = this.#prepare;
    const fn = definitions.functions.get(functionName);
    if (fn === undefined) throw new InternalError(`no function ${functionName}`);
    const replies = new FunctionReplies(fn, definitions);
    const types = { checkArguments, definitions, replies, renderer: this.#renderer };
    this.#functions.set(functionName, types);
    return types;
  }
}

function ready(prepared: PreparedCall): ReadyCall {
  if (prepared instanceof ReadyCall) return prepared;
  throw new InternalError('the call was not created by prepare()');
}

/** The client that a call tries first. This counts no turn of a round-robin client. */
function firstClient(plan: ClientPlan, routeKey: string | undefined): ClientSource {
  switch (plan.kind) {
    case 'single':
      return plan.source;
    case 'fallback': {
      const [member] = plan.members;
      if (member === undefined) throw new InternalError(`the strategy client ${plan.name} has no members`);
      return firstClient(member, routeKey);
    }
    case 'round-robin':
      return firstClient(
        routeKey === undefined
          ? memberForTurn(plan, 0, undefined)
          : memberForKey(plan, { routeKey, index: 0 }, undefined),
        routeKey,
      );
  }
}

/**
 * Returns text that is equal for two calls only if they are the same: their definitions, function, arguments, clients and options. The
 * order of keys in arguments does not matter, and neither do credentials of the server. Undefined for a call that no other call
 * equals: its request brings clients, variables or types, or asks for a trace.
 */
function callIdentity(call: ReadyCall, programHash: string): string | undefined {
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
