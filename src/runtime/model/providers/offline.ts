import type { JsonValue } from '../../../base/json.ts';
import { err, ok, type Result } from '../../../base/result.ts';
import type { DefinitionIndex } from '../../../schema/program.ts';
import type { PromptClient } from '../../../schema/message.ts';
import type { OFFLINE } from '../../../schema/providers/offline.ts';
import type { OptionValues } from '../../../schema/providers/option-shapes.ts';
import type { ModelReply } from '../wire/reply-format.ts';
import type { MadeUp, ModelClient, ModelAttempt, ModelListener, ModelRequest } from '../model-client.ts';
import { attemptFailure, type AttemptFailure } from '../attempt-failure.ts';
import type { ClassType, EnumType, Type } from '../../../schema/type.ts';

/** The replies of the offline provider: possible answers of a model to a call with these arguments. */
export interface OfflineAnswers {
  /** `definitions`: those of the call, which can differ from the program's. */
  answer(functionName: string, args: Readonly<Record<string, unknown>>, definitions?: DefinitionIndex): string;
}

type OfflineOptions = OptionValues<typeof OFFLINE.options>;

const ROLES = ['system', 'user', 'assistant'];

/** Answers from the definitions of one program. */
export function createOfflineAnswers(program: DefinitionIndex): OfflineAnswers {
  return {
    answer(functionName, args, definitions = program) {
      const returns = definitions.functions.get(functionName)?.returns ?? { kind: 'string' };
      const value = new Sampler(definitions, seedOf(`${functionName} ${JSON.stringify(args)}`)).value(
        returns,
        'value',
        0,
      );
      return typeof value === 'string' && returns.kind === 'string' ? value : JSON.stringify(value);
    },
  };
}

/**
 * A client that needs no network and no key: it answers with a value of the function's return type, made from the
 * arguments, or with `reply`. Its replies take the same way as all others: deltas, parser, retries.
 */
export function createOfflineClient(name: string, options: OfflineOptions, answers: OfflineAnswers): ModelClient {
  return {
    name,
    provider: 'offline',
    model: 'offline',
    prompt: offlinePrompt(name),
    finishReasons: { kind: 'any' },
    ask(request, listener) {
      const { functionName, args, definitions } = request;
      const canned = cannedReply(options, request) ?? options.reply;
      const given = canned ?? answers.answer(functionName, args, definitions);
      const reply = typeof given === 'string' ? given : JSON.stringify(given);
      return new OfflineAttempt({ name, options, reply, isCanned: canned !== undefined, request, listener });
    },
  };
}

/** Returns the first canned answer for a call; undefined if there is none. */
function cannedReply({ replies = [] }: OfflineOptions, { functionName, args }: ModelRequest): JsonValue | undefined {
  if (replies.length === 0) return undefined;
  const text = JSON.stringify(args);
  const isFor = (name = functionName, contains = ''): boolean => name === functionName && text.includes(contains);
  return replies.find((each) => isFor(each.function, each.contains))?.reply;
}

/** The client as prompts see it. */
export function offlinePrompt(name: string): PromptClient {
  return { name, provider: 'offline', defaultRole: 'system', allowedRoles: ROLES, remapRoles: {}, options: {} };
}

interface OfflineAttemptParts {
  readonly name: string;
  readonly options: OfflineOptions;
  readonly reply: string;
  /** The definitions contain the reply. */
  readonly isCanned: boolean;
  readonly request: ModelRequest;
  readonly listener: ModelListener;
}

class OfflineAttempt implements ModelAttempt {
  readonly madeUp: MadeUp | undefined;
  readonly #parts: OfflineAttemptParts;
  #sent = 0;
  #timer: NodeJS.Timeout | undefined;
  #immediate: NodeJS.Immediate | undefined;
  #deadline: NodeJS.Timeout | undefined;
  #paused = false;
  #waiting: (() => void) | undefined;

  constructor(parts: OfflineAttemptParts) {
    this.#parts = parts;
    this.madeUp = madeUpIn(parts);
    const { latency_ms: latencyMs, chunk_delay_ms: chunkDelayMs } = parts.options;
    if (latencyMs > 0 || chunkDelayMs > 0) this.#watchDeadline();
    this.#after(latencyMs, () => this.#begin());
  }

  takeReceived(): ModelReply | undefined {
    return this.#sent === 0 ? undefined : { text: this.#parts.reply.slice(0, this.#sent) };
  }

  cancel(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#deadline);
    clearImmediate(this.#immediate);
    this.#waiting = undefined;
    this.#sent = this.#parts.reply.length + 1;
  }

  /** Its deltas cost nothing to read. */
  coalesceReads(): void {}

  pause(): void {
    this.#paused = true;
  }

  release(): void {}

  resume(): void {
    this.#paused = false;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting !== undefined) this.#after(0, waiting);
  }

  #begin(): void {
    const { options, request, name } = this.#parts;
    if (options.fail_status !== undefined) {
      const fault = { kind: 'status', status: options.fail_status, body: 'asked to fail by "fail_status"' } as const;
      this.#end(err(attemptFailure(name, fault)));
    } else if (!options.make_up && !this.#parts.isCanned) {
      const message = `it has no reply for this call of ${request.functionName}, and \`make_up false\` forbids it to make one up: add one to "replies"`;
      this.#end(err(attemptFailure(name, { kind: 'reported', message, retryable: false })));
    } else if (request.streamed) this.#sendDeltas();
    else this.#finish();
  }

  #sendDeltas(): void {
    const { options, listener } = this.#parts;
    if (this.#paused) {
      this.#waiting = () => this.#sendDeltas();
      return;
    }
    if (this.#sent >= this.#parts.reply.length) {
      this.#finish();
      return;
    }
    // A size of 0 would never end.
    const size = Math.max(1, options.chunk_size);
    listener.text(this.#parts.reply.slice(this.#sent, this.#sent + size));
    this.#sent += size;
    this.#after(options.chunk_delay_ms, () => this.#sendDeltas());
  }

  #watchDeadline(): void {
    const startedAt = performance.now();
    const left = Math.max(1, this.#parts.request.deadlineAt - startedAt);
    if (left > 2 ** 31 - 1) return;
    this.#deadline = setTimeout(() => {
      const afterMs = Math.round(performance.now() - startedAt);
      this.#end(err(attemptFailure(this.#parts.name, { kind: 'timeout', timer: 'total', afterMs })));
    }, left);
  }

  #finish(): void {
    this.#end(ok({ text: this.#parts.reply, finishReason: 'stop' }));
  }

  #end(result: Result<ModelReply, AttemptFailure>): void {
    this.cancel();
    this.#parts.listener.ended(result);
  }

  #after(ms: number, next: () => void): void {
    if (ms > 0) this.#timer = setTimeout(next, ms);
    else this.#immediate = setImmediate(next);
  }
}

/** Undefined if the definitions contain the reply, or the attempt fails. */
function madeUpIn({ isCanned, options }: OfflineAttemptParts): MadeUp | undefined {
  if (isCanned || !options.make_up || options.fail_status !== undefined) return undefined;
  return (options.replies ?? []).length > 0 ? 'no-reply-matches' : 'no-replies';
}

/** Below this depth, lists and maps are empty and unions take their simplest member, so that recursive types end. */
const FULL_DEPTH = 3;

/** The depth at which types without a choice end too: a class tree this deep is longer than any reply. */
const LAST_DEPTH = 24;

const ITEMS = 2;

/** Makes values in the form of a model's reply (aliases for names, without skipped members). The same seed gives the same values. */
class Sampler {
  readonly #definitions: DefinitionIndex;
  #state: number;

  constructor(definitions: DefinitionIndex, seed: number) {
    this.#definitions = definitions;
    this.#state = seed >>> 0 || 1;
  }

  value(type: Type, name: string, depth: number): JsonValue {
    if (depth > LAST_DEPTH) return null;
    switch (type.kind) {
      case 'string':
        return `${name} ${this.#below(1000)}`;
      case 'int':
        return 1 + this.#below(99);
      case 'float':
        return 0.5 + this.#below(99);
      case 'bool':
        return this.#below(2) === 1;
      case 'null':
      case 'media':
        return null;
      case 'literal':
        return type.value;
      case 'class':
        return this.#object(this.#definitions.classes.get(type.name), depth);
      case 'enum':
        return this.#enumValue(this.#definitions.enums.get(type.name));
      case 'alias':
        return this.#alias(type.name, name, depth);
      case 'list':
        return this.#list(type.element, name, depth);
      case 'map':
        return this.#map(type, name, depth);
      case 'union':
        return this.value(this.#member(type.members, depth), name, depth);
    }
  }

  #object(definition: ClassType | undefined, depth: number): JsonValue {
    const fields = (definition?.fields ?? []).filter((field) => !field.skip);
    return Object.fromEntries(
      fields.map((field) => [field.alias ?? field.name, this.value(field.type, field.name, depth + 1)]),
    );
  }

  #enumValue(definition: EnumType | undefined): JsonValue {
    const values = (definition?.values ?? []).filter((value) => !value.skip);
    const chosen = values[this.#below(values.length)];
    return chosen === undefined ? null : (chosen.alias ?? chosen.name);
  }

  #alias(target: string, name: string, depth: number): JsonValue {
    const alias = this.#definitions.aliases.get(target);
    return alias === undefined ? null : this.value(alias.type, name, depth + 1);
  }

  #list(element: Type, name: string, depth: number): JsonValue {
    if (depth >= FULL_DEPTH) return [];
    return Array.from({ length: ITEMS }, () => this.value(element, name, depth + 1));
  }

  #map(type: Extract<Type, { kind: 'map' }>, name: string, depth: number): JsonValue {
    if (depth >= FULL_DEPTH) return {};
    const keys = this.#keys(type.key);
    return Object.fromEntries(keys.map((key) => [key, this.value(type.value, name, depth + 1)]));
  }

  #keys(type: Type): readonly string[] {
    switch (type.kind) {
      case 'literal':
        return [String(type.value)];
      case 'enum':
        return (this.#definitions.enums.get(type.name)?.values ?? []).slice(0, ITEMS).map((value) => value.name);
      case 'union':
        return type.members.flatMap((member) => this.#keys(member)).slice(0, ITEMS);
      default:
        return ['first', 'second'];
    }
  }

  /** Chooses null only where no other member ends. */
  #member(members: readonly Type[], depth: number): Type {
    const simple = members.filter((member) => isSimple(member));
    const useful = members.filter((member) => member.kind !== 'null' && member.kind !== 'media');
    const choices = depth >= FULL_DEPTH && simple.length > 0 ? simple : useful;
    return choices[this.#below(choices.length)] ?? { kind: 'null' };
  }

  /** xorshift32: small, and the same on every machine. */
  #below(limit: number): number {
    let state = this.#state;
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    this.#state = state >>> 0;
    return limit <= 1 ? 0 : this.#state % limit;
  }
}

function isSimple(type: Type): boolean {
  return type.kind !== 'class' && type.kind !== 'alias' && type.kind !== 'list' && type.kind !== 'map';
}

/** FNV-1a over the text. */
function seedOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
}
