import { isJsonObject, isOptionsKey } from '../../../base/json.ts';
import type { FunctionType, Program } from '../../../schema/program.ts';
import type { MediaKind, Type } from '../../../schema/type.ts';
import { bodyProblem, readJson } from '../../http/read-json.ts';
import { problem, type Problem } from '../../http/problem.ts';

/** The parts of a program that decide how a function is a model. */
export type ModelProgram = Pick<Program, 'functions' | 'classes' | 'aliases'>;

export type ModelArguments = Readonly<Record<string, unknown>>;

/** A message of a conversation, in the form of both endpoints. */
export interface Turn {
  readonly role: string;
  readonly text: string;
  readonly media: readonly MediaArgument[];
}

/** An image, a recording or a file, as an argument of svc. */
export interface MediaArgument {
  readonly media: MediaKind;
  readonly value: ModelArguments;
}

/** A request that this interface cannot take. `param` names the field. */
export class RequestRefusal extends Error {
  readonly problem: Problem;

  constructor(param: string, message: string) {
    super(message);
    this.problem = problem('invalid_argument', message, { param });
  }
}

interface MediaParameter {
  readonly name: string;
  readonly media: MediaKind;
  /** The parameter takes all parts of its kind. */
  readonly isList: boolean;
}

/** A function as a model: how it takes its arguments from a conversation, and how its value is sent. */
export class FunctionModel {
  readonly name: string;
  /** The value is a string, so it is sent bare. */
  readonly returnsText: boolean;
  /** Partial values can be sent. False if they can be of another kind than the final value. */
  readonly flows: boolean;
  readonly #media: readonly MediaParameter[];
  /** The parameter that takes the text of the last user message, or the whole conversation. */
  readonly #main: { readonly name: string; readonly takes: 'text' | 'conversation' } | undefined;

  constructor(declared: FunctionType, program: ModelProgram) {
    const { parameters, returns } = declared;
    this.name = declared.name;
    this.returnsText = withoutNull(returns).kind === 'string';
    this.flows = flowsAs(returns, program);
    this.#media = parameters.flatMap(({ name, type }) => mediaOf(name, withoutNull(type)));
    const others = parameters.filter(({ name }) => this.#media.every((each) => each.name !== name));
    const required = others.filter(({ type }) => !isOptional(type));
    const [main, ...more] = required.length > 0 ? required : others;
    const takes = main === undefined || more.length > 0 ? undefined : takenBy(withoutNull(main.type), program);
    this.#main = main === undefined || takes === undefined ? undefined : { name: main.name, takes };
  }

  /** The last user message is all that the function takes of a conversation. */
  get takesLastMessage(): boolean {
    return this.#main?.takes !== 'conversation';
  }

  /** Takes the arguments from a conversation. `param`: the field that has it. */
  argumentsOf(turns: readonly Turn[], param: string): ModelArguments {
    const last = turns.findLast(({ role }) => role === 'user');
    if (this.#main?.takes === 'conversation') {
      const conversation = turns.map(({ role, text }) => ({ role, content: text }));
      return { [this.#main.name]: conversation, ...this.#mediaArguments(last?.media ?? [], {}, param) };
    }
    if (last === undefined)
      throw new RequestRefusal(
        param,
        `The function "${this.name}" takes its arguments from the last user message, and there is none.`,
      );
    const own = this.#main === undefined ? this.#jsonArguments(last.text, param) : { [this.#main.name]: last.text };
    return { ...own, ...this.#mediaArguments(last.media, own, param) };
  }

  #jsonArguments(text: string, param: string): ModelArguments {
    if (text.trim() === '') return {};
    const excess = bodyProblem(Buffer.from(text));
    const body = excess === undefined ? readJson(text) : undefined;
    if (body?.ok === true) return checkedArguments(body.value.value, param);
    const message = `The function "${this.name}" takes its arguments as a JSON object in the last user message, or in the field "svc_args".`;
    throw new RequestRefusal(param, excess === undefined ? message : `${message} ${excess.message}`);
  }

  #mediaArguments(parts: readonly MediaArgument[], own: ModelArguments, param: string): ModelArguments {
    const free = this.#media.filter(({ name }) => !Object.hasOwn(own, name));
    const filled = new Map<string, unknown>();
    for (const { media, value } of parts) {
      const parameter = free.find((each) => each.media === media && (each.isList || !filled.has(each.name)));
      if (parameter === undefined)
        throw new RequestRefusal(param, `The function "${this.name}" has no parameter for this part: ${media}.`);
      const { name, isList } = parameter;
      const before = filled.get(name);
      filled.set(name, isList ? [...(Array.isArray(before) ? (before as unknown[]) : []), value] : value);
    }
    return Object.fromEntries(filled);
  }
}

/** Returns arguments that a caller wrote as JSON. Options have a field of their own: a message can come from a stranger. */
export function checkedArguments(given: unknown, param: string): ModelArguments {
  if (!isJsonObject(given))
    throw new RequestRefusal(param, `"${param}" has to be an object with one key for each parameter.`);
  if (Object.keys(given).some(isOptionsKey)) {
    throw new RequestRefusal(param, 'Arguments cannot contain options: send them in the field "svc_options".');
  }
  // JSON has no form for them, so they would reach the function as null.
  if (hasInfinite(given)) throw new RequestRefusal(param, 'The arguments contain a number out of range.');
  return given;
}

function hasInfinite(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(hasInfinite);
}

/** Returns the type of an optional value without null. */
function withoutNull(type: Type): Type {
  if (type.kind !== 'union') return type;
  const [member, ...more] = type.members.filter(({ kind }) => kind !== 'null');
  return member === undefined || more.length > 0 ? type : member;
}

function mediaOf(name: string, type: Type): readonly MediaParameter[] {
  if (type.kind === 'media') return [{ name, media: type.media, isList: false }];
  const element = type.kind === 'list' ? withoutNull(type.element) : undefined;
  return element?.kind === 'media' ? [{ name, media: element.media, isList: true }] : [];
}

function takenBy(type: Type, { classes }: ModelProgram): 'text' | 'conversation' | undefined {
  if (type.kind === 'string') return 'text';
  if (type.kind !== 'list' || type.element.kind !== 'class') return undefined;
  const { name } = type.element;
  const fields = new Set(classes.find((each) => each.name === name)?.fields.map((field) => field.name));
  return fields.has('role') && fields.has('content') ? 'conversation' : undefined;
}

function isOptional(type: Type): boolean {
  return type.kind === 'null' || (type.kind === 'union' && type.members.some(({ kind }) => kind === 'null'));
}

/** Returns whether partial values are of the same kind as the final one. */
function flowsAs(type: Type, program: ModelProgram): boolean {
  const { kind } = withoutNull(type);
  return kind !== 'union' && kind !== 'alias' && !hasState(type, program, new Set());
}

/** Returns whether a type contains `@stream.with_state`, which wraps the partials of a value. */
function hasState(type: Type, program: ModelProgram, seen: Set<string>): boolean {
  if (type.stream?.withState === true) return true;
  const has = (inner: Type): boolean => hasState(inner, program, seen);
  switch (type.kind) {
    case 'union':
      return type.members.some(has);
    case 'list':
      return has(type.element);
    case 'map':
      return has(type.value);
    case 'class':
    case 'alias': {
      const { kind, name } = type;
      if (seen.has(`${kind} ${name}`)) return false;
      seen.add(`${kind} ${name}`);
      if (kind === 'alias') return program.aliases.some((each) => each.name === name && has(each.type));
      return program.classes.some((each) => each.name === name && each.fields.some((field) => has(field.type)));
    }
    default:
      return false;
  }
}
