import { textTokens } from './estimate-tokens.ts';
import type { AttemptObserver, ObservedParse, ClientHealth } from '../../base/call-observer.ts';
import { type Result, err, ok } from '../../base/result.ts';
import type { Failure, Attempt } from '../../schema/failure.ts';
import type { InvalidReply, Message } from '../../schema/message.ts';
import {
  attemptEnd,
  type AttemptFailure,
  finalFailure,
  uncreatedClientFailure,
  UNDECIDED,
} from '../model/attempt-failure.ts';
import type { ClientSource } from '../model/client-options.ts';
import type { MadeUp, ModelAttempt, ModelClient, ModelRequest } from '../model/model-client.ts';
import { MAX_REQUESTS_RULE } from '../model/strategies/client-plan.ts';
import type { CoolingClients } from '../model/strategies/strategy-members.ts';
import { runPlan, type RoundRobinTurns } from '../model/strategies/run-plan.ts';
import { type ModelReply, addTokens, MOST_TOKENS } from '../model/wire/reply-format.ts';
import { reaskMessages } from '../prompt/build-messages.ts';
import { JsonReply, MADE_UP, NO_LOSSES, type ParsedReply } from '../reply/reply-parser.ts';
import type { CallTypes } from './call-types.ts';
import type { ClientDirectory } from './client-directory.ts';
import { refuseLosses } from './parse-reply.ts';
import type { ReadyCall } from './prepare-call.ts';
import type { ReplyReader } from './reply-reader.ts';
import type { CallContext, CallOutcome, ReplyOutcome, RuntimeOptions, CallReport, TokenUsage } from './runtime.ts';
import type { TokenPrices } from '../../schema/providers/common-options.ts';

export interface RunServices {
  readonly options: RuntimeOptions;
  readonly directory: ClientDirectory;
  readonly turn: RoundRobinTurns;
  /** The clients whose provider stated a usage that cannot be true; those of requests share an empty name. */
  readonly implausible: Set<string>;
  /** The functions for which an offline client made up a value. */
  readonly madeUp: Set<string>;
}

interface RunParts {
  readonly services: RunServices;
  readonly types: CallTypes;
  readonly call: ReadyCall;
  readonly context: CallContext;
  readonly reader: ReplyReader;
}

/** A client that was asked, and its reply to come. */
interface AskedModel {
  readonly client: ModelClient;
  /** The messages without those of a re-ask. */
  readonly prompt: readonly Message[];
  /** The request states the schema of the reply. */
  readonly wrapped: boolean;
  readonly deadlineAt: number;
  readonly askedAt: number;
  readonly reply: Promise<Result<ModelReply, AttemptFailure>>;
}

/** One call of one function, from prompt to value, with all its attempts. */
export class FunctionRun {
  readonly #parts: RunParts;
  readonly #recorder = new CallRecorder();
  /** The attempt under way. */
  #attempt: ModelAttempt | undefined;
  /** The attempt whose reply is being parsed. */
  #answered: ModelAttempt | undefined;
  #paused = false;
  #lastFailure: Failure | undefined;
  /** The part of a reply that broke off, with an estimate of the counts that are missing. */
  #received: ModelReply | undefined;
  /** The end of the last attempt, for the health of its client. */
  #attemptEnd = UNDECIDED;

  constructor(parts: RunParts) {
    this.#parts = parts;
  }

  /** Never rejects: every failure is in the outcome. */
  async run(): Promise<CallOutcome> {
    const { services, call, context } = this.#parts;
    const deadlineAt = performance.now() + context.deadlineMs;
    context.observer?.started(call.args);
    try {
      const result = await runPlan<ParsedReply>(call.plan, deadlineAt, {
        attempt: this.#recordedAttempt.bind(this),
        cancellation: context.cancellation,
        turn: services.turn,
        cooling: this.#cooling,
        routeKey: call.routeKey,
        exhausted: () => this.#isExhausted,
      });
      if (!result.ok) return this.#failed(this.#withAttempts(result.failure.failure));
      return { result, report: this.#recorder.report(result.value) };
    } catch (error) {
      const { observer, requestId } = context;
      services.options.logger.error({ requestId, ...observer?.logFields, error }, 'a call failed inside svc');
      return this.#failed({ code: 'internal_error', message: 'The call failed inside the server' });
    }
  }

  /** Whether no one writes the reply of the attempt under way. */
  get isMadeUp(): boolean {
    return this.#attempt?.madeUp !== undefined;
  }

  coalesceReads(forMs: number): void {
    this.#attempt?.coalesceReads(forMs);
  }

  pause(): void {
    this.#paused = true;
    this.#attempt?.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#attempt?.resume();
  }

  /** The clients that strategies pass over. */
  get #cooling(): CoolingClients | undefined {
    const { services, call, context } = this.#parts;
    if (services.options.clientHealth === undefined || call.plan.kind === 'single') return undefined;
    return {
      until: (source) => this.#healthOf(source)?.coolingUntil(source.definition.name),
      passedOver: ({ name }) => context.observer?.passedOver(name),
    };
  }

  /** Undefined if nothing about the client concerns other calls. */
  #healthOf(source: ClientSource): ClientHealth | undefined {
    const { services, call } = this.#parts;
    const { clientHealth } = services.options;
    return clientHealth !== undefined && services.directory.isShared(source, call.requester) ? clientHealth : undefined;
  }

  get #isExhausted(): boolean {
    return this.#recorder.attempts.length >= this.#parts.call.maxRequests;
  }

  async #recordedAttempt(
    source: ClientSource,
    deadlineAt: number,
    invalid: InvalidReply | undefined,
  ): Promise<Result<ParsedReply, AttemptFailure>> {
    const { name } = source.definition;
    const health = this.#healthOf(source);
    // In the same turn in which a strategy selected the client: no other call can select it to decide about a cool-down.
    const id = health?.started(name) ?? 0;
    this.#attemptEnd = UNDECIDED;
    // An attempt can fail before it sends a request, and a call can have many such attempts.
    if (this.#recorder.attempts.length > 0) await nextTurn();
    const startedAt = performance.now();
    let result: Result<ParsedReply, AttemptFailure>;
    try {
      this.#received = undefined;
      const asked = this.#askModel(source, deadlineAt, invalid);
      result = asked.ok ? await this.#read(asked.value, await asked.value.reply) : asked;
    } finally {
      health?.ended(name, id, this.#attemptEnd);
    }
    const attempt = { client: name, isReask: invalid !== undefined, startedAt };
    if (result.ok) {
      this.#recorder.succeeded(attempt);
      return result;
    }
    const { failure } = result.failure;
    this.#recorder.failed(attempt, failure);
    this.#lastFailure = failure;
    const { logger } = this.#parts.services.options;
    if (logger.enabled('debug')) {
      // The request's own line has the message: it hides the request's own credentials, and obeys `logContent`.
      const status = failure.code === 'client_error' ? failure.upstreamStatus : undefined;
      const { observer, requestId } = this.#parts.context;
      const fields = { requestId, ...observer?.logFields, client: name, error: failure.code, upstreamStatus: status };
      logger.debug(fields, 'an attempt failed');
    }
    return result;
  }

  /** Not async: each async function whose call waits for the model keeps half a kilobyte. */
  #askModel(
    source: ClientSource,
    deadlineAt: number,
    invalid: InvalidReply | undefined,
  ): Result<AskedModel, AttemptFailure> {
    const { services, types, call, context, reader } = this.#parts;
    if (context.cancellation.cancelled) return err(finalFailure(cancelled(context.cancellation.reason)));
    const created = services.directory.client(source, call.requester);
    if (!created.ok) return err(finalFailure(uncreatedClientFailure(source.definition.name, created.failure)));
    const { client } = created.value;
    const renderedAt = performance.now();
    const messages =
      invalid === undefined
        ? types.renderer.render(call.functionName, call.args, client.prompt, call.tags)
        : ok(reaskMessages(invalid, client.prompt));
    context.observer?.rendered(client.name, renderedAt, messages.ok ? undefined : messages.failure.code);
    if (!messages.ok) return err(finalFailure(messages.failure));
    const output = types.replies.outputFor(client);
    const wrapped = output?.wrapper !== undefined;
    reader.begin(this.#lastFailure?.message, wrapped);
    const askedAt = performance.now();
    this.#recorder.asked(client, messages.value);
    const observer = this.#observe(client, messages.value, invalid !== undefined);
    const reply = this.#ask(client, { messages: messages.value, output }, { deadlineAt, observer });
    const prompt = invalid?.prompt ?? messages.value;
    return ok({ client, prompt, wrapped, deadlineAt, askedAt, reply });
  }

  async #read(
    { client, prompt, wrapped, deadlineAt, askedAt }: AskedModel,
    reply: Result<ModelReply, AttemptFailure>,
  ): Promise<Result<ParsedReply, AttemptFailure>> {
    this.#recorder.answered(reply.ok ? reply.value : undefined, this.#received, askedAt);
    this.#checkUsage(client);
    this.#attemptEnd = attemptEnd(reply, client.coolDownMs);
    if (!reply.ok) return reply;
    try {
      const rejected = finishReasonFailure(client, reply.value.finishReason);
      if (rejected !== undefined) return err(finalFailure(rejected));
      const unanswered = unansweredFailure(client, reply.value);
      if (unanswered !== undefined) return err(unanswered);
      const parsed = await this.#parse(client, reply.value, { deadlineAt, wrapped });
      if (!parsed.ok) return err(withInvalidReply(parsed.failure, reply.value, prompt));
      const madeUp = this.#answered?.madeUp;
      return madeUp === undefined ? parsed : ok(this.#madeUp(client, madeUp, parsed.value));
    } finally {
      this.#answered?.release();
    }
  }

  #ask(
    client: ModelClient,
    { messages, output }: Pick<ModelRequest, 'messages' | 'output'>,
    { deadlineAt, observer }: { readonly deadlineAt: number; readonly observer: AttemptObserver | undefined },
  ): Promise<Result<ModelReply, AttemptFailure>> {
    const { types, call, context, reader } = this.#parts;
    const request = {
      functionName: call.functionName,
      definitions: types.definitions,
      args: call.args,
      messages,
      output,
      streamed: reader.streamed,
      deadlineAt,
      privateUrls: call.requester.privateUrls,
      traceHeaders: observer && (() => observer.traceHeaders()),
    };
    // V8 compiles an executor again after each collection, so it is short.
    let resolve: (result: Result<ModelReply, AttemptFailure>) => void = ignore;
    const ended = new Promise<Result<ModelReply, AttemptFailure>>((settle) => (resolve = settle));
    let forget = ignore;
    const attempt = client.ask(request, {
      text: (delta) => {
        this.#recorder.firstText();
        observer?.firstText();
        reader.text(delta);
      },
      reasoning: call.include.has('reasoning') ? (delta) => reader.reasoning(delta) : undefined,
      ended: (result) => {
        forget();
        if (!result.ok) this.#receivedOnly(attempt.takeReceived(), messages);
        observer?.ended(result.ok ? result.value : { ...attemptError(result.failure), ...this.#receivedCounts });
        this.#attempt = undefined;
        this.#answered = attempt;
        resolve(result);
      },
    });
    this.#attempt = attempt;
    if (this.#paused) attempt.pause();
    forget = context.cancellation.onCancel((reason) => {
      // The provider reads the prompt and answers, whether or not a part of the answer has arrived.
      this.#receivedOnly(attempt.takeReceived() ?? NOTHING_YET, messages);
      attempt.cancel();
      observer?.ended({ error: 'cancelled', ...this.#receivedCounts });
      resolve(err(finalFailure(cancelled(reason))));
    });
    return ended;
  }

  #receivedOnly(received: ModelReply | undefined, prompt: readonly Message[]): void {
    this.#received = received === undefined ? undefined : withCounts(received, prompt);
  }

  get #receivedCounts(): Pick<ModelReply, 'inputTokens' | 'outputTokens'> {
    const { inputTokens = 0, outputTokens = 0 } = this.#received ?? {};
    return this.#received === undefined ? {} : { inputTokens, outputTokens };
  }

  /** Warns once for each client. A provider can be wrong about each call, and a request can bring any provider. */
  #checkUsage({ name }: ModelClient): void {
    if (!this.#recorder.isImplausible) return;
    const { call, context, services } = this.#parts;
    const { implausible, options } = services;
    const client = call.decidesUpstream ? '' : name;
    if (implausible.has(client)) return;
    implausible.add(client);
    const fields = { requestId: context.requestId, ...(client === '' ? {} : { client }), mostTokens: MOST_TOKENS };
    options.logger.warn(
      { ...fields, mostDollars: HIGHEST_COST },
      'a provider states more tokens than any context window holds, or its prices give a cost that no reply has: svc counts the most that can be',
    );
  }

  /** Marks the value, and warns once for each function. */
  #madeUp({ name }: ModelClient, reason: MadeUp, { explanation, flags, json, losses }: ParsedReply): ParsedReply {
    const { call, context, services } = this.#parts;
    const { functionName } = call;
    if (!services.madeUp.has(functionName)) {
      services.madeUp.add(functionName);
      const fields = {
        requestId: context.requestId,
        function: functionName,
        ...(!call.decidesUpstream && { client: name }),
      };
      services.options.logger.warn(fields, `an offline client made up a value: ${MADE_UP_BECAUSE[reason]}`);
    }
    const detail = `The offline client "${name}" made up the value: ${MADE_UP_BECAUSE[reason]}.`;
    return new JsonReply(json, [{ flag: MADE_UP, path: '', detail }, ...flags], losses, explanation);
  }

  #observe(client: ModelClient, messages: readonly Message[], isReask: boolean): AttemptObserver | undefined {
    const { call, context, reader } = this.#parts;
    return context.observer?.asked({
      client: client.name,
      provider: client.provider,
      model: client.model,
      origin: client.origin,
      number: this.#recorder.attempts.length + 1,
      streamed: reader.streamed,
      isReask,
      ofCaller: call.decidesUpstream,
      options: client.prompt.options,
      messages,
    });
  }

  async #parse(
    client: ModelClient,
    { ending, finishReason, text }: ModelReply,
    { deadlineAt, wrapped }: { readonly deadlineAt: number; readonly wrapped: boolean },
  ): Promise<Result<ParsedReply, AttemptFailure>> {
    const { types, call, context, reader } = this.#parts;
    const { functionName } = call;
    const { extension } = types;
    const { cancellation } = context;
    const observer = context.observer?.parsing();
    const isCut = ending === 'cut';
    const whole = { functionName, text, wrapped, extension, cancellation, deadlineAt, observer, isCut };
    const outcome = await reader.finish(whole);
    const isTruncated = outcome.ok && outcome.value.losses.truncated !== undefined;
    const onLoss = isTruncated && client.onTruncation === 'refuse' ? 'refuse' : call.onLoss;
    const parsed = refuseLosses(outcome, onLoss, text);
    observer?.ended(observedParse(parsed));
    if (parsed.ok) return parsed;
    const { failure } = parsed;
    const cut = isCut && !isTruncated ? `. The provider cut the reply off ("${finishReason}")` : '';
    return err(finalFailure({ ...failure, message: failure.message + cut }));
  }

  /** Adds all attempts to the failure, and a list of them to its message if there was more than one. */
  #withAttempts(failure: Failure): Failure {
    const { attempts } = this.#recorder;
    const isListed =
      failure.code === 'client_error' ||
      failure.code === 'timeout' ||
      (failure.code === 'validation_failure' && attempts.length > 1);
    const listed = isListed ? { ...failure, attempts } : failure;
    if (attempts.length < 2) return listed;
    const list = attempts
      .slice(0, LISTED_ATTEMPTS)
      .map((attempt) => `"${attempt.client}" ${attempt.upstreamStatus ?? attempt.outcome}`);
    if (attempts.length > LISTED_ATTEMPTS) list.push('…');
    const bound = this.#isExhausted ? `. svc stopped: ${MAX_REQUESTS_RULE}` : '';
    return { ...listed, message: `${listed.message} (${attempts.length} attempts: ${list.join(', ')})${bound}` };
  }

  #failed(failure: Failure): CallOutcome {
    const losses = (failure.code === 'validation_failure' ? failure.losses : undefined) ?? NO_LOSSES;
    return { result: err(failure), report: this.#recorder.report({ flags: [], losses }) };
  }
}

const MADE_UP_BECAUSE: Readonly<Record<MadeUp, string>> = {
  'no-reply-matches': 'none of its replies is for this call',
  'no-replies': 'it has no replies',
};

/** The message of a failure names the first attempts; the failure lists all of them. */
const LISTED_ATTEMPTS = 20;

const NOTHING_YET: ModelReply = { text: '' };

/** A reply with an estimate of the counts that its provider has not stated. Some state a first part of the output at the start. */
function withCounts(reply: ModelReply, prompt: readonly Message[]): ModelReply {
  const { text, reasoning = '', outputTokens = 0 } = reply;
  const written = Math.ceil(textTokens(text) + textTokens(reasoning));
  const { inputTokens = Math.ceil(promptTokens(prompt)) } = reply;
  return { ...reply, inputTokens, outputTokens: Math.max(outputTokens, written) };
}

/** The tokens of the text in a prompt. */
function promptTokens(prompt: readonly Message[]): number {
  let tokens = 0;
  for (const { parts } of prompt) for (const part of parts) if (part.kind === 'text') tokens += textTokens(part.text);
  return tokens;
}

function attemptError({ failure }: AttemptFailure): { readonly error: string; readonly status: number | undefined } {
  return { error: failure.code, status: failure.code === 'client_error' ? failure.upstreamStatus : undefined };
}

function observedParse(parsed: ReplyOutcome): ObservedParse {
  if (parsed.ok) return { error: undefined, flags: parsed.value.flags, ...parsed.value.losses };
  const { failure } = parsed;
  const losses = failure.code === 'validation_failure' ? failure.losses : undefined;
  return { error: failure.code, flags: [], ...(losses ?? NO_LOSSES) };
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function cancelled(reason: string | undefined): Failure {
  return { code: 'cancelled', message: reason ?? 'no caller waits for the answer' };
}

function ignore(): void {}

/** A failure of parsing, with the reply, so that its client can be asked for a correction. */
function withInvalidReply(failed: AttemptFailure, reply: ModelReply, prompt: readonly Message[]): AttemptFailure {
  const { failure } = failed;
  if (failure.code !== 'validation_failure') return failed;
  return { ...failed, invalidReply: { prompt, text: reply.text, faults: failure.details } };
}

/** The maximum length of a model's text in the message of a failure. */
const MAX_REFUSAL = 300;

/** The failure of a reply without an answer; undefined for a reply with one. */
function unansweredFailure({ name }: ModelClient, reply: ModelReply): AttemptFailure | undefined {
  const { blocked, ending, finishReason, refusal, text, tool } = reply;
  const fail = (code: UnansweredCode, problem: string, retry: AttemptFailure['retry'] = 'never'): AttemptFailure => ({
    failure: {
      code,
      message: `The ${code === 'refusal' ? 'model of the client' : 'client'} "${name}" ${problem}`,
      client: name,
      rawOutput: text === '' ? (refusal ?? '') : text,
      ...(finishReason === undefined ? {} : { finishReason }),
    },
    retry,
  });
  const word = finishReason === undefined ? '' : ` ("${finishReason}")`;
  if (ending === 'refused' || refusal !== undefined) {
    const said = refusal === undefined || refusal === '' ? '' : `: ${shortened(refusal)}`;
    return fail('refusal', `refused to answer${said}`);
  }
  if (blocked !== undefined)
    return fail('content_filtered', `withheld the reply: the prompt was blocked ("${blocked}")`);
  if (ending === 'filtered') return fail('content_filtered', `withheld the reply${word}`);
  if (ending === 'unfinished') return fail('no_answer', `did not finish its reply${word}`);
  if (text !== '') return undefined;
  if (tool !== undefined) return fail('no_answer', `called the tool "${tool}" instead of answering${word}`, 'always');
  if (ending === 'cut') return fail('no_answer', `reached a limit before the first word of its answer${word}`);
  return fail('no_answer', `sent a reply without text${word}`, 'always');
}

type UnansweredCode = 'refusal' | 'content_filtered' | 'no_answer';

function shortened(words: string): string {
  return words.length > MAX_REFUSAL ? `${words.slice(0, MAX_REFUSAL)}…` : words;
}

/** The failure of a reply that ended for a reason which its client does not accept; undefined if it is accepted. */
function finishReasonFailure(client: ModelClient, reason: string | undefined): Failure | undefined {
  const rule = client.finishReasons;
  if (rule.kind === 'any' || reason === undefined) return undefined;
  const listed = rule.reasons.includes(reason.toLowerCase());
  if (listed === (rule.kind === 'allow')) return undefined;
  return {
    code: 'finish_reason_error',
    message: `The client "${client.name}" ended its reply for the reason "${reason}", which its definition does not accept`,
    client: client.name,
    finishReason: reason,
  };
}

/** Records what happens during one call, for its report. Times are on the monotonic clock. */
class CallRecorder {
  readonly #startedAt = performance.now();
  readonly #attempts: Attempt[] = [];
  #client: ModelClient | undefined;
  #reply: ModelReply | undefined;
  #prompt: readonly Message[] | undefined;
  /** The reply of the attempt under way, and its cost in US dollars. */
  #unlisted: ModelReply | undefined;
  #unlistedCost: number | undefined;
  readonly #usage: Draft<TokenUsage> = {};
  /** The tokens of replies whose provider counts none, by estimate; undefined while all counts are the provider's. */
  #estimatedTokens: number | undefined;
  /** A count or a cost of the last reply is the most that can be. */
  isImplausible = false;
  /** US dollars; undefined before the first reply, and once a part of it is unknown. */
  #cost: number | undefined;
  #replies = 0;
  #modelMs = 0;
  #renderMs = 0;
  #parseMs = 0;
  /** When the attempt under way asked its model, and when that one answered. */
  #askedAt: number | undefined;
  #answeredAt: number | undefined;
  #firstTextMs: number | undefined;

  asked(client: ModelClient, prompt: readonly Message[]): void {
    this.#client = client;
    this.#prompt = prompt;
    this.#reply = undefined;
  }

  firstText(): void {
    this.#firstTextMs ??= performance.now() - this.#startedAt;
  }

  /** Without a reply, `received` is the part of it that arrived before it broke off, if there is any. */
  answered(reply: ModelReply | undefined, received: ModelReply | undefined, askedAt: number): void {
    this.#reply = reply;
    this.#askedAt = askedAt;
    this.#answeredAt = performance.now();
    this.#modelMs += this.#answeredAt - askedAt;
    this.isImplausible = false;
    const counted = reply ?? received;
    if (counted === undefined) return;
    this.#unlisted = counted;
    const { inputTokens, outputTokens, tokenDetails } = counted;
    if (reply === undefined) this.#estimatedTokens ??= 0;
    else if (inputTokens === undefined && outputTokens === undefined) this.#estimate(reply);
    if (inputTokens !== undefined) this.#usage.inputTokens = (this.#usage.inputTokens ?? 0) + inputTokens;
    if (outputTokens !== undefined) this.#usage.outputTokens = (this.#usage.outputTokens ?? 0) + outputTokens;
    if (tokenDetails !== undefined) addTokens(this.#usage, tokenDetails);
    const cost = costOf(counted, this.#client?.prices);
    this.isImplausible = inputTokens === MOST_TOKENS || outputTokens === MOST_TOKENS || cost === HIGHEST_COST;
    this.#addCost(cost);
  }

  succeeded(attempt: EndedAttempt): void {
    this.#list({ client: attempt.client, outcome: 'ok', durationMs: this.#ended(attempt.startedAt) }, attempt);
  }

  failed(attempt: EndedAttempt, failure: Failure): void {
    const status = failure.code === 'client_error' ? failure.upstreamStatus : undefined;
    const entry = {
      client: attempt.client,
      outcome: failure.code,
      ...(status === undefined ? {} : { upstreamStatus: status }),
      message: failure.message,
      durationMs: this.#ended(attempt.startedAt),
    };
    this.#list(entry, attempt);
  }

  get attempts(): readonly Attempt[] {
    return this.#attempts;
  }

  /** Assigns member by member: a spread for each optional member would cost more than the rest of the recorder. */
  report({ flags, losses }: Pick<ParsedReply, 'flags' | 'losses'>): CallReport {
    const report: Draft<CallReport> = {
      attempts: this.#attempts,
      usage: this.#usage,
      modelMs: this.#modelMs,
      renderMs: this.#renderMs,
      parseMs: this.#parseMs,
      flags,
      losses,
    };
    const client = this.#client;
    if (client !== undefined) report.client = client.name;
    if (client?.model !== undefined) report.model = client.model;
    if (this.#cost !== undefined) report.cost = Math.round(this.#cost * 1e9) / 1e9;
    if (this.#estimatedTokens !== undefined) report.estimatedTokens = this.#estimatedTokens;
    if (this.#reply?.finishReason !== undefined) report.finishReason = this.#reply.finishReason;
    if (this.#firstTextMs !== undefined) report.firstTextMs = this.#firstTextMs;
    if (this.#prompt !== undefined) report.prompt = this.#prompt;
    if (this.#reply !== undefined) report.rawReply = this.#reply.text;
    if (this.#reply?.reasoning !== undefined) report.reasoning = this.#reply.reasoning;
    return report;
  }

  /** Divides the time of an attempt into its parts, and returns its sum. */
  #ended(startedAt: number): number {
    const now = performance.now();
    const askedAt = this.#askedAt ?? now;
    this.#renderMs += askedAt - startedAt;
    this.#parseMs += now - (this.#answeredAt ?? now);
    this.#askedAt = undefined;
    this.#answeredAt = undefined;
    return Math.round((now - startedAt) * 1000) / 1000;
  }

  #list(entry: Draft<Attempt>, { isReask }: EndedAttempt): void {
    const reply = this.#unlisted;
    const cost = this.#unlistedCost;
    this.#unlisted = undefined;
    this.#unlistedCost = undefined;
    if (isReask) entry.reask = true;
    if (reply?.inputTokens !== undefined) entry.inputTokens = reply.inputTokens;
    if (reply?.outputTokens !== undefined) entry.outputTokens = reply.outputTokens;
    if (cost !== undefined) entry.cost = cost;
    this.#attempts.push(entry);
  }

  #estimate(reply: ModelReply): void {
    const { inputTokens = 0, outputTokens = 0 } = withCounts(reply, this.#prompt ?? []);
    this.#estimatedTokens = (this.#estimatedTokens ?? 0) + inputTokens + outputTokens;
  }

  #addCost(cost: number | undefined): void {
    this.#unlistedCost = cost;
    const before = this.#replies === 0 ? 0 : this.#cost;
    this.#cost = cost === undefined || before === undefined ? undefined : before + cost;
    this.#replies += 1;
  }
}

/** An attempt at the named client, of which the outcome is known. */
interface EndedAttempt {
  readonly client: string;
  /** It asked for the correction of a reply. */
  readonly isReask: boolean;
  readonly startedAt: number;
}

type Draft<T> = { -readonly [Key in keyof T]: T[Key] };

/** US dollars. A definition can state prices so high that a reply has no finite cost: it counts as the highest one. */
function costOf(
  { inputTokens, outputTokens, tokenDetails }: ModelReply,
  prices: TokenPrices | undefined,
): number | undefined {
  if (prices === undefined || inputTokens === undefined || outputTokens === undefined) return undefined;
  const { input, output, cached_input: cachedInput = input } = prices;
  const cached = Math.min(tokenDetails?.cachedInputTokens ?? 0, inputTokens);
  const cost = ((inputTokens - cached) * input + cached * cachedInput + outputTokens * output) / 1e6;
  return Math.min(cost, HIGHEST_COST);
}

/** US dollars: a reply of a hundred million tokens costs less at ten thousand dollars for a million of them. */
const HIGHEST_COST = 1e6;
