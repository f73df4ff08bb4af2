import { acceptsNull, typeText } from '../../../schema/type-graph.ts';
import { CALLS_FAIL } from '../../../diagnostics/catalogue/template.ts';
import {
  FILTER_OPERANDS,
  FILTERS,
  FUNCTION_OPERANDS,
  FUNCTIONS,
  isFilterName,
  isFunctionName,
  isTestName,
  METHOD_OPERANDS,
  METHODS,
  OPERANDS,
  OPERATOR_OPERANDS,
  TEST_OPERANDS,
  TESTS,
  type OperandName,
  type OperandKind,
} from '../../../schema/template-vocabulary.ts';
import type { Arguments, Expression, FilterCall } from '../../../schema/template.ts';
import type { Type } from '../../../schema/type.ts';
import { alternatives } from '../templates/static-value.ts';
import type { Operand, TemplateWalker } from '../templates/template-walker.ts';

type ExpressionOf<K extends Expression['kind']> = Extract<Expression, { readonly kind: K }>;

/**
 * The operands of tests, functions, methods, operators and accesses are of the kinds that the vocabulary lists. With another kind,
 * rendering fails: always, or only if the caller omits an argument or passes null.
 */
export function operandKindsRule(expression: Expression, context: TemplateWalker): void {
  switch (expression.kind) {
    case 'test': {
      const { name } = expression;
      if (!isTestName(name)) return;
      return checkParameters(
        { what: `test "${name}"`, parameters: TESTS[name], operands: TEST_OPERANDS[name] },
        expression.args,
        context,
      );
    }
    case 'call':
      return checkCall(expression, context);
    case 'unary':
      if (expression.operator === 'not') return;
      return check(
        { subject: `"${expression.operator}"`, operand: 'signed', at: expression },
        expression.operand,
        context,
      );
    case 'binary':
      return checkOperator(expression, context);
    case 'slice':
      return check({ subject: 'A slice', operand: 'sliceable', at: expression }, expression.object, context);
    default:
  }
}

/** The object of an access is defined. */
export function accessedObjectRule(expression: Expression, context: TemplateWalker): void {
  if (expression.kind !== 'attribute' && expression.kind !== 'index') return;
  check({ subject: 'This access', operand: 'present', at: expression }, expression.object, context);
}

/** The same for the operand and the arguments of a filter. */
export function filterOperandsRule(filter: FilterCall, context: TemplateWalker, input: Operand): void {
  const { name, args } = filter;
  if (!isFilterName(name)) return;
  const operands = FILTER_OPERANDS[name];
  const what = `filter "${name}"`;
  if (operands?.['value'] !== undefined) {
    checkOperand({ subject: `The ${what}`, operand: operands['value'], at: filter }, input, context);
  }
  checkParameters({ what, parameters: FILTERS[name], operands }, args, context);
}

/** A loop needs items. */
export function loopOperandRule(iterable: Expression, context: TemplateWalker): void {
  check({ subject: 'A loop', operand: 'iterable', at: iterable }, iterable, context);
}

function checkCall({ callee, args }: ExpressionOf<'call'>, context: TemplateWalker): void {
  const value = context.valueOf(callee);
  if (callee.kind === 'attribute') return checkMethod(callee, args, context);
  if (callee.kind === 'name' && value.kind === 'typed') {
    context.report('template/wrong-operand', callee, {
      message: `"${callee.name}" is not a function: ${CALLS_FAIL}.`,
      help: 'Remove the parentheses.',
    });
  }
  if (value.kind !== 'function' || !isFunctionName(value.name)) return;
  const { name } = value;
  checkParameters({ what: `"${name}"`, parameters: FUNCTIONS[name], operands: FUNCTION_OPERANDS[name] }, args, context);
}

function checkMethod(
  { object, name, ...at }: ExpressionOf<'attribute'>,
  args: Arguments,
  context: TemplateWalker,
): void {
  const value = context.valueOf(object);
  if (value.kind === 'chat') {
    return checkParameters({ what: `"_.${name}"`, parameters: ['role'], operands: { role: 'role' } }, args, context);
  }
  check({ subject: `The method "${name}"`, operand: 'object', at }, object, context);
  if (!isText(kindsOf({ value }, context)) || !isStringMethod(name)) return;
  const use = { what: `method "${name}"`, parameters: METHODS.string[name], operands: METHOD_OPERANDS[name] };
  checkParameters(use, args, context);
}

function isStringMethod(name: string): name is keyof typeof METHODS.string {
  return Object.hasOwn(METHODS.string, name);
}

interface Use {
  readonly what: string;
  /** In the notation of the template vocabulary. */
  readonly parameters: readonly string[];
  readonly operands: Readonly<Record<string, OperandName>> | undefined;
}

function checkParameters({ what, parameters, operands = {} }: Use, args: Arguments, context: TemplateWalker): void {
  const byPosition = parameters.filter((text) => !text.includes('=')).map((text) => text.replace(/\?$/u, ''));
  for (const [name, operand] of Object.entries(operands)) {
    const index = byPosition.findIndex((each) => each === name || each === `*${name}`);
    const isRest = byPosition[index]?.startsWith('*') === true;
    const positional = index < 0 ? [] : args.positional.slice(index, isRest ? undefined : index + 1);
    const named = args.named.filter((entry) => entry.name === name).map(({ value }) => value);
    for (const value of [...positional, ...named]) {
      check({ subject: `The argument "${name}" of ${what}`, operand, at: value }, value, context);
    }
  }
}

function checkOperator({ operator, left, right, ...at }: ExpressionOf<'binary'>, context: TemplateWalker): void {
  const pairs = OPERATOR_OPERANDS[operator];
  const sides = [left, right].map((side) => kindsOf({ value: context.valueOf(side) }, context));
  const [ofLeft, ofRight] = sides;
  if (pairs === undefined) return;
  const fitting = pairs.filter(
    ([a, b]) => (ofLeft === undefined || anyOf(ofLeft, a)) && (ofRight === undefined || anyOf(ofRight, b)),
  );
  if (fitting.length === 0) {
    if (isTested(left, context) || isTested(right, context)) return;
    const types = [ofLeft, ofRight].map((kinds) => (kinds === undefined ? 'any value' : `"${textOf(kinds)}"`));
    context.report('template/wrong-operand', at, {
      message: `"${operator}" cannot be used between ${types.join(' and ')}: ${CALLS_FAIL}.`,
      help: operator === '+' && sides.some(isText) ? 'Write "~" to join texts.' : '',
    });
    return;
  }
  for (const [index, side] of [left, right].entries()) {
    const allowed = fitting.flatMap((pair) => pair[index === 0 ? 0 : 1]);
    checkMissing({ subject: `"${operator}"`, at: side, allowed, fallback: undefined }, side, context);
  }
}

/** A place that takes an operand. */
interface Place {
  readonly subject: string;
  readonly operand: OperandName;
  readonly at: Pick<Expression, 'start' | 'end'>;
}

function check(place: Place, expression: Expression, context: TemplateWalker): void {
  checkOperand(place, { value: context.valueOf(expression), expression }, context);
}

function checkOperand({ subject, operand, at }: Place, input: Operand, context: TemplateWalker): void {
  const { words, kinds: allowed } = OPERANDS[operand];
  const kinds = kindsOf(input, context);
  if (kinds === undefined || anyOf(kinds, allowed)) {
    if (input.expression === undefined) return;
    return checkMissing({ subject, at, allowed, fallback: FALLBACKS[operand] }, input.expression, context);
  }
  if (isTested(input.expression, context)) return;
  context.report('template/wrong-operand', at, {
    message: `${subject} takes ${words}, but this is of type "${textOf(kinds)}": ${CALLS_FAIL}.`,
    help: helpFor(operand, kinds),
  });
}

/** Values to write for a missing one. */
const FALLBACKS: Readonly<Partial<Record<OperandName, string>>> = {
  sized: '[]',
  map: '{}',
  number: '0',
  signed: '0',
};

function helpFor(operand: OperandName, kinds: readonly KindOfType[]): string {
  const isNumber = kinds.every(({ kind }) => kind === 'number');
  if (operand === 'role') return 'Write `_.role("user")`.';
  if (operand === 'iterable' && isNumber) return 'Write `range(n)` to count.';
  if ((operand === 'number' || operand === 'signed') && isText(kinds))
    return 'Convert the text first, with "int" or "float".';
  if (operand === 'map' && kinds.every(({ kind }) => kind === 'list')) return 'Loop over the list itself.';
  return '';
}

interface MissingPlace {
  readonly subject: string;
  readonly at: Pick<Expression, 'start' | 'end'>;
  readonly allowed: readonly OperandKind[];
  readonly fallback: string | undefined;
}

/** Reports an operand that can be missing, unless a condition that mentions it decides about the place. */
function checkMissing(place: MissingPlace, operand: Expression, context: TemplateWalker): void {
  const { subject, at, allowed, fallback } = place;
  const value = context.valueOf(operand);
  const path = pathOf(operand);
  if (context.isCondition || value.kind !== 'typed' || path === undefined || context.isGuarded(path.root)) return;
  if (!acceptsNull(value.type, context.definitions.aliases)) return;
  const forms = [
    value.isItem === true || allowed.includes('undefined') ? [] : 'omitted',
    allowed.includes('null') ? [] : 'null',
  ];
  const missing = forms.flat().join(' or ');
  if (missing !== '') context.reportMissing(at, { subject, name: path.text, missing, fallback });
}

/** Reports whether the place depends on a test of the operand, with which svc does not compare the type. */
function isTested(operand: Expression | undefined, context: TemplateWalker): boolean {
  const path = operand && pathOf(operand);
  return path !== undefined && context.isTested(path.root);
}

interface Path {
  /** The name with which it begins. */
  readonly root: string;
  readonly text: string;
}

/** Returns the path of `a`, `a.b` and `a["b"]`. */
function pathOf(expression: Expression): Path | undefined {
  if (expression.kind === 'name') return { root: expression.name, text: expression.name };
  if (expression.kind !== 'attribute' && expression.kind !== 'index') return undefined;
  const object = pathOf(expression.object);
  if (object === undefined) return undefined;
  if (expression.kind === 'attribute') return { root: object.root, text: `${object.text}.${expression.name}` };
  return {
    root: object.root,
    text: `${object.text}[${expression.index.kind === 'string' ? `"${expression.index.value}"` : '…'}]`,
  };
}

interface KindOfType {
  readonly type: Type;
  readonly kind: OperandKind;
}

function anyOf(kinds: readonly KindOfType[], allowed: readonly OperandKind[]): boolean {
  return kinds.some(({ kind }) => allowed.includes(kind));
}

function isText(kinds: readonly KindOfType[] | undefined): boolean {
  return kinds?.every(({ kind }) => kind === 'string') === true;
}

function textOf(kinds: readonly KindOfType[]): string {
  return kinds.map(({ type, kind }) => (isUnknownInside(type) ? kind : typeText(type))).join(' | ');
}

/** True for a list or map that the template makes. */
function isUnknownInside(type: Type): boolean {
  const inner = type.kind === 'list' ? type.element : type.kind === 'map' ? type.value : type;
  return inner.kind === 'alias' && inner.name === '';
}

/** Returns the kinds of a value that is not missing, or undefined if they are uncertain. */
function kindsOf({ value }: Operand, context: TemplateWalker): readonly KindOfType[] | undefined {
  if (value.kind !== 'typed') return undefined;
  if (value.type.kind === 'null') return [{ type: value.type, kind: 'null' }];
  const types = alternatives(value.type, context.definitions);
  const kinds = types.flatMap((type) => {
    const kind = kindOf(type, context);
    return kind === undefined ? [] : [{ type, kind }];
  });
  return kinds.length === 0 || kinds.length < types.length ? undefined : kinds;
}

function kindOf(type: Type, { definitions, isCondition }: TemplateWalker): OperandKind | undefined {
  switch (type.kind) {
    case 'int':
    case 'float':
      return 'number';
    case 'literal':
      return typeof type.value === 'string' ? 'string' : typeof type.value === 'number' ? 'number' : 'bool';
    case 'class':
      return 'map';
    case 'enum':
      if (definitions.enums.get(type.name)?.dynamic !== false) return undefined;
      return isCondition ? 'string' : 'enum';
    case 'string':
    case 'bool':
    case 'list':
    case 'map':
    case 'media':
      return type.kind;
    case 'null':
    case 'alias':
    case 'union':
      return undefined;
  }
}
