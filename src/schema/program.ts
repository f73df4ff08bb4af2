import type { JsonObject } from '../base/json.ts';
import { type ClientType, type RetryPolicyType, strategyMembers, type OptionEntry } from './client.ts';
import type { AliasType, ClassType, EnumType, Type } from './type.ts';
import type { Expression, Template } from './template.ts';
import type { Span } from '../diagnostics/span.ts';
import type { Condition, Constraint } from './constraint.ts';

/**
 * The checked definitions, with resolved names and normalized types. Lists are in declaration order, with files sorted
 * by path.
 */
export interface Definitions {
  readonly classes: readonly ClassType[];
  readonly enums: readonly EnumType[];
  /** Only the recursive aliases; targets replace all others. */
  readonly aliases: readonly AliasType[];
  readonly functions: readonly FunctionType[];
  readonly templateStrings: readonly TemplateStringType[];
  readonly clients: readonly ClientType[];
  readonly retryPolicies: readonly RetryPolicyType[];
}

/**
 * The complete input of the serving plane, compiled from the definitions: frozen plain data, safe for JSON and structured
 * clone.
 */
export interface Program extends Definitions {
  /** Changes with the shape of this data; a worker rejects any other format. */
  readonly format: 2;
  /** The result of `programHash`: part of the file name, the status page and the metrics. */
  readonly hash: string;
  /** The definition files, for positions in run-time errors. */
  readonly files: readonly ProgramFile[];
  readonly openapi: JsonObject;
}

export interface ProgramFile {
  readonly path: string;
  /** The offset of the first character of each line. */
  readonly lineStarts: readonly number[];
}

/** The names of all clients of a program: the declared ones, and the shorthands (`provider/model`) of functions and strategies. */
export function clientNames({ clients, functions }: Pick<Program, 'clients' | 'functions'>): ReadonlySet<string> {
  return new Set([
    ...clients.map((client) => client.name),
    ...functions.map((declared) => declared.client),
    ...clients.flatMap(strategyMembers),
  ]);
}

export interface FunctionType {
  readonly name: string;
  readonly parameters: readonly ParameterType[];
  readonly returns: Type;
  /** The name of a client, or `provider/model` with a provider before the first `/`. */
  readonly client: string;
  readonly prompt: Template;
  /** Why every call fails: the types of the function have a constraint that svc cannot read. */
  readonly unreadable?: string;
  readonly documentation?: string;
  /** The arguments of the `test` blocks that name this function. A `Program` has them only for the playground. */
  readonly examples: readonly FunctionExample[];
}

export interface ParameterType {
  readonly name: string;
  readonly type: Type;
}

export interface FunctionExample {
  readonly name: string;
  readonly args: JsonObject;
}

/** A `template_string`, which every template can call by its name. */
export interface TemplateStringType {
  readonly name: string;
  readonly parameters: readonly ParameterType[];
  readonly template: Template;
}

/** A `test` block: arguments for functions, and conditions for their results. A `Program` contains none. */
export interface TestType {
  readonly name: string;
  /** The name in its declaration. */
  readonly span: Span;
  /** The functions to call, each once. A function can be missing from the definitions. */
  readonly functions: readonly string[];
  /** By parameter. `env.X` is resolved when the test runs. */
  readonly args: readonly OptionEntry[];
  /** `@@assert` and `@@check`, in source order. A check can lack its label here. */
  readonly constraints: readonly Constraint[];
  /** Its `type_builder` extends the types of the definitions. */
  readonly buildsTypes: boolean;
  /** The first part that svc cannot read, such as `the argument "x"`: the test cannot run. */
  readonly unreadable?: string;
}

/** Definitions by name. Names come from users, so these are Maps and not objects. */
export interface DefinitionIndex {
  readonly classes: ReadonlyMap<string, ClassType>;
  readonly enums: ReadonlyMap<string, EnumType>;
  readonly aliases: ReadonlyMap<string, AliasType>;
  readonly functions: ReadonlyMap<string, FunctionType>;
  readonly templateStrings: ReadonlyMap<string, TemplateStringType>;
  readonly clients: ReadonlyMap<string, ClientType>;
  readonly retryPolicies: ReadonlyMap<string, RetryPolicyType>;
}

export function indexDefinitions(definitions: Definitions): DefinitionIndex {
  return {
    classes: byName(definitions.classes),
    enums: byName(definitions.enums),
    aliases: byName(definitions.aliases),
    functions: byName(definitions.functions),
    templateStrings: byName(definitions.templateStrings),
    clients: byName(definitions.clients),
    retryPolicies: byName(definitions.retryPolicies),
  };
}

function byName<T extends { readonly name: string }>(items: readonly T[]): ReadonlyMap<string, T> {
  return new Map(items.map((item) => [item.name, item]));
}

/** The type that a constraint applies to, and the definitions that contain its classes, enums and aliases. */
export interface ConstrainedType {
  readonly type: Type;
  readonly definitions: DefinitionIndex;
}

/**
 * Compiles the expression of a constraint, for values of this type. The rooms that check constraints receive it from
 * `runtime/call`.
 */
export type CompileCondition = (expression: Expression, of: ConstrainedType) => Condition;

/** An error in the definitions, in a form for pages: texts only. Literal credentials are masked. */
export interface DefinitionProblem {
  /** `check/unknown-type`; absent if the definitions could not be read at all. */
  readonly code?: string;
  readonly message: string;
  /** What to do about it. */
  readonly help?: string;
  /** Path, line and column, such as `svc_src/resume.svc:4:9`. */
  readonly place?: string;
  /** The lines around the place, with marks. */
  readonly frame?: string;
}
