import { templateDiagnostic } from '../../../diagnostics/catalogue/template.ts';
import type { Diagnostic } from '../../../diagnostics/diagnostic.ts';
import type { DefinitionIndex } from '../../../schema/program.ts';
import { FILTER_RESULTS, isFilterName, isFunctionName } from '../../../schema/template-vocabulary.ts';
import type {
  Arguments,
  AssignmentTarget,
  Expression,
  FilterCall,
  Macro,
  Statement,
  Template,
} from '../../../schema/template.ts';
import {
  ANY,
  staticAttribute,
  elementOf,
  LOOP,
  MISSING,
  type StaticValue,
  typed,
  UNKNOWN_LIST,
  UNKNOWN_MAP,
  type ExpressionPlace,
  type Assignment,
} from './static-value.ts';

/** The operand of a filter. A block has no expression for it. */
export interface Operand {
  readonly value: StaticValue;
  readonly expression?: Expression;
}

type Names = Map<string, StaticValue>;

type Problem = Parameters<typeof templateDiagnostic>;
type MissingParams = Parameters<typeof templateDiagnostic<'template/missing-operand'>>[2];

/** A rule for expressions in templates and constraints. It sees each expression after its operands. */
export type TemplateRule = (expression: Expression, context: TemplateWalker) => void;

/** The rules that see parts of a template. */
export interface TemplateRules {
  /** Each expression of a prompt, a template_string, a constraint or a condition of a test. */
  readonly expressions: readonly TemplateRule[];
  /** Each use of a filter, in the same places. */
  readonly filters: readonly ((filter: FilterCall, context: TemplateWalker, input: Operand) => void)[];
  /** Each `object.name` and `object[index]`, also where it can be undefined, except the name of a called method. */
  readonly accesses: readonly TemplateRule[];
  /** The iterable of each loop of a template. */
  readonly loops: readonly TemplateRule[];
  /** Each assignment of a template, loops included. */
  readonly assignments: readonly ((assignment: Assignment, context: TemplateWalker) => void)[];
}

/** Walks a template in execution order, tracks the value of each name, and passes each expression to the rules. */
export class TemplateWalker {
  readonly definitions: DefinitionIndex;
  /** The values are JSON data, in which an enum value is a string. */
  readonly isCondition: boolean;
  /** The roles that a client of the prompt allows; undefined if any role is possible. */
  readonly roles: ReadonlySet<string> | undefined;
  readonly diagnostics: Diagnostic[] = [];
  readonly #file: string;
  readonly #rules: TemplateRules;
  readonly #scopes: Names[];
  readonly #values = new Map<Expression, StaticValue>();
  /** Names that the template has tested with `is defined`, and so allows to be undefined. */
  readonly #tested = new Set<string>();
  /** The expressions that the walker is in, the outermost first. */
  readonly #open: Expression[] = [];
  #isPrinted = false;
  /** The names that the walker has read, in order. */
  readonly #read: string[] = [];
  /** The names in the conditions on which the walker's place depends. */
  readonly #guards: string[] = [];
  /** The walker is in a macro, whose calls can depend on any condition. */
  #macros = 0;
  /** The variables that the template declares, by the value of each; a second assignment does not declare another one. */
  readonly locals = new Map<StaticValue, Pick<Expression, 'start' | 'end'>>();
  /** Every assignment to a variable, with the first one to it. */
  readonly assigned: { readonly at: Pick<Expression, 'start' | 'end'>; readonly value: StaticValue }[] = [];
  /** The paths that are reported as missing. */
  readonly #missing = new Set<string>();

  constructor(
    place: {
      readonly file: string;
      readonly definitions: DefinitionIndex;
      readonly isCondition?: boolean;
      readonly roles?: ReadonlySet<string> | undefined;
    },
    names: Names,
    rules: TemplateRules,
  ) {
    this.#file = place.file;
    this.definitions = place.definitions;
    this.isCondition = place.isCondition === true;
    this.roles = place.roles;
    this.#rules = rules;
    this.#scopes = [names];
  }

  /** Returns the known properties of an expression that the walker has visited. */
  valueOf(expression: Expression): StaticValue {
    return this.#values.get(expression) ?? ANY;
  }

  /** Returns every expression that the walker has visited. */
  visited(): Iterable<Expression> {
    return this.#values.keys();
  }

  /** Returns the place of the expression that a rule sees. */
  place(): ExpressionPlace {
    return { ancestors: this.#open, isPrinted: this.#isPrinted };
  }

  /** Returns whether a condition, or a loop, that mentions the name decides if the walker's place is reached. */
  isGuarded(name: string): boolean {
    return this.#macros > 0 || this.#guards.includes(name);
  }

  /** Returns whether such a condition tests the value of the name, as in `name is mapping`. */
  isTested(name: string): boolean {
    return this.#guards.includes(testOf(name));
  }

  /** Reports a path that can be missing, only at its first place: rendering does not get further. */
  reportMissing(place: Pick<Expression, 'start' | 'end'>, params: MissingParams): void {
    if (this.#missing.has(params.name)) return;
    this.#missing.add(params.name);
    this.report('template/missing-operand', place, params);
  }

  /** `at`: the place of the problem in the file. */
  report(code: Problem[0], { start, end }: Pick<Expression, 'start' | 'end'>, params: Problem[2]): void {
    this.diagnostics.push(templateDiagnostic(code, { file: this.#file, start, end }, params));
  }

  /** All names in scope, for suggestions. */
  *visibleNames(): Iterable<string> {
    for (const scope of this.#scopes) yield* scope.keys();
    yield* this.definitions.templateStrings.keys();
    yield* ['ctx', '_'];
  }

  /** Macros are visible in the whole body, so one can call another that is declared later. */
  body(statements: readonly Statement[]): void {
    for (const statement of statements) {
      if (statement.kind === 'macro')
        this.#scopes.at(-1)?.set(statement.macro.name, { kind: 'macro', macro: statement.macro });
    }
    for (const statement of statements) this.#statement(statement);
  }

  expression(expression: Expression): StaticValue {
    const value = this.#walk(expression);
    for (const rule of this.#rules.expressions) rule(expression, this);
    return value;
  }

  #walk(expression: Expression): StaticValue {
    this.#open.push(expression);
    const value = this.#infer(expression);
    this.#open.pop();
    this.#values.set(expression, value);
    if (expression.kind === 'attribute' || expression.kind === 'index') {
      for (const rule of this.#rules.accesses) rule(expression, this);
    }
    return value;
  }

  /** The rules check the name of a called function or method together with its call. */
  #callee(callee: Expression): void {
    if (callee.kind === 'name') this.#values.set(callee, this.#lookUp(callee.name));
    else if (callee.kind !== 'attribute') this.expression(callee);
    else {
      const object = this.expression(callee.object);
      this.#values.set(callee, staticAttribute(object, callee.name, this.definitions));
      if (object.kind !== 'typed') for (const rule of this.#rules.expressions) rule(callee, this);
    }
  }

  #statement(statement: Statement): void {
    switch (statement.kind) {
      case 'text':
        return;
      case 'print':
        this.#isPrinted = true;
        this.expression(statement.expression);
        this.#isPrinted = false;
        return;
      case 'if':
        return this.#if(statement);
      case 'for':
        return this.#for(statement);
      case 'set':
        return this.#assignChecked(statement.target, this.expression(statement.value), statement.value);
      case 'set-block':
        this.body(statement.body);
        this.#filterBlock(statement.filters);
        return this.#assign(statement.target, typed({ kind: 'string' }));
      case 'with':
        return this.#within(() => {
          for (const { target, value } of statement.bindings)
            this.#assignChecked(target, this.expression(value), value);
          this.body(statement.body);
        });
      case 'filter-block':
        this.body(statement.body);
        return this.#filterBlock(statement.filters);
      case 'macro':
        return this.#macro(statement.macro);
      case 'call-block':
        this.expression(statement.call);
        return this.#macro(statement.macro);
    }
  }

  #if(statement: Extract<Statement, { readonly kind: 'if' }>): void {
    const before = this.#guards.length;
    for (const branch of statement.branches) {
      this.#guard(() => this.expression(branch.condition));
      this.body(branch.body);
    }
    this.body(statement.otherwise);
    this.#guards.length = before;
  }

  /** Walks a condition, whose names guard what follows. */
  #guard<T>(condition: () => T): T {
    const before = this.#read.length;
    const value = condition();
    this.#guards.push(...this.#read.slice(before));
    return value;
  }

  #for(statement: Extract<Statement, { readonly kind: 'for' }>): void {
    const before = this.#guards.length;
    const { iterable, target } = statement;
    const items = this.#guard(() => this.expression(iterable));
    for (const rule of this.#rules.loops) rule(iterable, this);
    const element = elementOf(items, this.definitions);
    this.#within(() => {
      this.#assignChecked(target, element, iterable);
      const { filter } = statement;
      if (filter !== undefined) this.#guard(() => this.expression(filter));
      this.#declare('loop', LOOP);
      this.body(statement.body);
    });
    this.#within(() => this.body(statement.otherwise));
    this.#guards.length = before;
  }

  #macro(macro: Macro): void {
    this.#macros += 1;
    this.#within(() => {
      for (const { name, fallback } of macro.parameters) {
        if (fallback !== undefined) this.expression(fallback);
        this.#declare(name, ANY);
      }
      this.#declare('caller', ANY);
      this.body(macro.body);
    });
    this.#macros -= 1;
  }

  #within(walk: () => void): void {
    this.#scopes.push(new Map());
    walk();
    this.#scopes.pop();
  }

  #assignChecked(target: AssignmentTarget, value: StaticValue, source: Expression): void {
    for (const rule of this.#rules.assignments) rule({ target, value, source }, this);
    this.#assign(target, value);
  }

  #assign(target: AssignmentTarget, value: StaticValue): void {
    if (target.kind === 'name') this.#declareLocal(target, value);
    else if (target.kind === 'names') for (const item of target.items) this.#assign(item, ANY);
  }

  /** Gives each variable a value of its own, so that `valueOf` identifies it. */
  #declareLocal(target: Extract<AssignmentTarget, { readonly kind: 'name' }>, value: StaticValue): void {
    const known = this.#scopes.at(-1)?.get(target.name);
    const own = { ...(known === undefined ? value : ANY) };
    this.#scopes.at(-1)?.set(target.name, own);
    this.locals.set(own, (known && this.locals.get(known)) ?? target);
    this.assigned.push({ at: target, value: own });
  }

  /** A name with two declarations can have either value. */
  #declare(name: string, value: StaticValue): void {
    const scope = this.#scopes.at(-1);
    scope?.set(name, scope.has(name) ? ANY : value);
  }

  /** The filters of a block apply to its text. */
  #filterBlock(filters: readonly FilterCall[]): void {
    let value = typed({ kind: 'string' });
    for (const filter of filters) value = this.#filter(filter, { value });
  }

  #filter(filter: FilterCall, input: Operand): StaticValue {
    this.#arguments(filter.args);
    for (const rule of this.#rules.filters) rule(filter, this, input);
    return resultOf(filter.name);
  }

  #arguments(args: Arguments): void {
    for (const value of args.positional) this.expression(value);
    for (const { value } of args.named) this.expression(value);
  }

  #infer(expression: Expression): StaticValue {
    switch (expression.kind) {
      case 'string':
        return typed({ kind: 'string' });
      case 'integer':
        return typed({ kind: 'int' });
      case 'float':
        return typed({ kind: 'float' });
      case 'boolean':
        return typed({ kind: 'bool' });
      case 'none':
        return typed({ kind: 'null' });
      case 'list':
        for (const item of expression.items) this.expression(item);
        return UNKNOWN_LIST;
      case 'map':
        for (const part of expression.entries.flatMap((entry) => [entry.key, entry.value])) this.expression(part);
        return UNKNOWN_MAP;
      case 'binary':
        return this.#binary(expression);
      case 'conditional':
        return this.#conditional(expression);
      case 'name':
        return this.#lookUp(expression.name);
      case 'filter':
        return this.#filterExpression(expression);
      case 'attribute':
        return staticAttribute(this.expression(expression.object), expression.name, this.definitions);
      case 'index':
        return this.#index(expression);
      case 'test':
        return this.#test(expression);
      case 'call':
        return this.#call(expression);
      default:
        for (const part of operandsOf(expression)) this.expression(part);
        return ANY;
    }
  }

  #filterExpression({ input, filter }: Extract<Expression, { readonly kind: 'filter' }>): StaticValue {
    if (DEFAULTS.has(filter.name)) this.#possiblyUndefined(input);
    else this.expression(input);
    return this.#filter(filter, { value: this.valueOf(input), expression: input });
  }

  /** The left side of `and` and `or` decides whether the right side is evaluated. */
  #binary({ operator, left, right }: Extract<Expression, { readonly kind: 'binary' }>): StaticValue {
    const before = this.#guards.length;
    if (operator === 'and' || operator === 'or') this.#guard(() => this.expression(left));
    else this.expression(left);
    this.expression(right);
    this.#guards.length = before;
    return ANY;
  }

  #conditional({ condition, value, otherwise }: Extract<Expression, { readonly kind: 'conditional' }>): StaticValue {
    const before = this.#guards.length;
    this.#guard(() => this.expression(condition));
    this.expression(value);
    if (otherwise !== undefined) this.expression(otherwise);
    this.#guards.length = before;
    return ANY;
  }

  #test({ name, input, args }: Extract<Expression, { readonly kind: 'test' }>): StaticValue {
    if (name !== 'defined' && name !== 'undefined') this.expression(input);
    else {
      this.#possiblyUndefined(input);
      if (input.kind === 'name') this.#tested.add(input.name);
    }
    if (input.kind === 'name') this.#read.push(testOf(input.name));
    this.#arguments(args);
    return ANY;
  }

  /** Walks an operand that is allowed to be undefined, so that no rule reports a missing name or attribute there. */
  #possiblyUndefined(expression: Expression): void {
    const mayBeMissing = expression.kind === 'name' || expression.kind === 'attribute' || expression.kind === 'index';
    if (mayBeMissing) this.#walk(expression);
    else this.expression(expression);
  }

  #call({ callee, args }: Extract<Expression, { readonly kind: 'call' }>): StaticValue {
    this.#callee(callee);
    this.#arguments(args);
    return ANY;
  }

  #index({ object, index }: Extract<Expression, { readonly kind: 'index' }>): StaticValue {
    const value = this.expression(object);
    this.expression(index);
    return index.kind === 'string'
      ? staticAttribute(value, index.value, this.definitions)
      : elementOf(value, this.definitions);
  }

  #lookUp(name: string): StaticValue {
    this.#read.push(name);
    const scope = this.#scopes.findLast((candidate) => candidate.has(name));
    return scope?.get(name) ?? this.#global(name);
  }

  #global(name: string): StaticValue {
    const enumType = this.definitions.enums.get(name);
    if (enumType !== undefined) return { kind: 'enum', type: enumType };
    const templateString = this.definitions.templateStrings.get(name);
    if (templateString !== undefined) return { kind: 'template-string', type: templateString };
    if (isFunctionName(name)) return { kind: 'function', name };
    return this.#tested.has(name) ? ANY : MISSING;
  }
}

/** The entry for a tested name among the names that the walker reads. */
function testOf(name: string): string {
  return `${name} is`;
}

function resultOf(filter: string): StaticValue {
  const kind = isFilterName(filter) ? FILTER_RESULTS[filter] : undefined;
  if (kind === undefined) return ANY;
  return kind === 'list' ? UNKNOWN_LIST : typed({ kind });
}

/** Filters that replace an undefined value. */
const DEFAULTS = new Set(['default', 'd']);

/** Returns the operands of a unary operator or a slice. */
function operandsOf(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case 'unary':
      return [expression.operand];
    case 'slice':
      return present([expression.object, expression.from, expression.to, expression.step]);
    default:
      return [];
  }
}

function present(parts: readonly (Expression | undefined)[]): readonly Expression[] {
  return parts.filter((part) => part !== undefined);
}

/** The names that a template can read when it is rendered. */
interface ReachedNames {
  /** Every name. */
  readonly read: ReadonlySet<string>;
  /** Every `.attribute` and `["attribute"]`. */
  readonly attributes: ReadonlySet<string>;
  /** Names that appear other than as the object of an attribute. */
  readonly bare: ReadonlySet<string>;
}

type NameSets = Record<keyof ReachedNames, Set<string>>;

/** Returns the names in a template and in all template_strings that it uses, which see the same variables. */
export function reachedNames(template: Template, definitions: DefinitionIndex): ReachedNames {
  const names: NameSets = { read: new Set(), attributes: new Set(), bare: new Set() };
  collectNames(template, definitions, names);
  for (const name of names.read) {
    const used = definitions.templateStrings.get(name);
    // The loop also visits names that are added to the set meanwhile.
    if (used !== undefined) collectNames(used.template, definitions, names);
  }
  return names;
}

function collectNames(
  { file, body }: Template,
  definitions: DefinitionIndex,
  { read, attributes, bare }: NameSets,
): void {
  const walker = new TemplateWalker({ file, definitions }, new Map(), NO_RULES);
  walker.body(body);
  const owners = new Set<Expression>();
  for (const expression of walker.visited()) {
    if (expression.kind === 'name') read.add(expression.name);
    if (expression.kind === 'attribute') attributes.add(expression.name);
    if (expression.kind === 'index' && expression.index.kind === 'string') attributes.add(expression.index.value);
    if (expression.kind === 'attribute' || expression.kind === 'index') owners.add(expression.object);
  }
  for (const expression of walker.visited()) {
    if (expression.kind === 'name' && !owners.has(expression)) bare.add(expression.name);
  }
}

/** For a walk that only reads the values of expressions. */
export const NO_RULES: TemplateRules = { expressions: [], filters: [], accesses: [], loops: [], assignments: [] };

/** Returns the first match in the plain text of a template, such as a name in the interpolation of another language. */
export function plainTextUse({ body }: Template, pattern: RegExp): string | undefined {
  for (const statement of body) {
    const found = statement.kind === 'text' ? pattern.exec(statement.text) : null;
    if (found !== null) return found[0];
  }
  return undefined;
}
