import {
  unknownEnumValue,
  unknownField,
  unknownFilter,
  unknownFunction,
  unknownMethod,
  unknownTest,
  unknownVariable,
} from '../../../diagnostics/catalogue/template.ts';
import { FILTERS, FUNCTIONS, isFilterName, isTestName, METHODS, TESTS } from '../../../schema/template-vocabulary.ts';
import type { Expression, FilterCall } from '../../../schema/template.ts';
import type { Type } from '../../../schema/type.ts';
import { reportArguments } from './call-arguments-rules.ts';
import { alternatives, type StaticValue } from './static-value.ts';
import type { RuleContext } from './template-rule.ts';

/** A filter must exist, and its arguments must match. Otherwise, rendering fails. */
export function unknownFilterRule(filter: FilterCall, context: RuleContext): void {
  const { name } = filter;
  // A missing name is a syntax error, which has its own diagnostic.
  if (name === '') return;
  if (!isFilterName(name)) {
    context.report(unknownFilter(context.span(filter), name, Object.keys(FILTERS)));
    return;
  }
  const parameters = name === 'format' ? formatParameters(filter) : FILTERS[name];
  reportArguments({ what: `filter "${name}"`, parameters, ...filter }, context);
  const [inner] = filter.args.positional;
  if (name === 'map' && inner?.kind === 'string' && !isFilterName(inner.value)) {
    context.report(unknownFilter(context.span(inner), inner.value, Object.keys(FILTERS)));
  }
}

/** `format=` is another name for `type=`. One of them is required. */
function formatParameters({ args }: FilterCall): readonly string[] {
  const [type, ...others] = FILTERS.format;
  return args.named.some((entry) => entry.name === 'format') ? FILTERS.format : [type.replace('?', ''), ...others];
}

/** A test must exist, and its arguments must match. Otherwise, rendering fails. */
export function unknownTestRule(expression: Expression, context: RuleContext): void {
  if (expression.kind !== 'test') return;
  const { name } = expression;
  if (isTestName(name)) reportArguments({ what: `test "${name}"`, parameters: TESTS[name], ...expression }, context);
  else context.report(unknownTest(context.span(expression), name, Object.keys(TESTS)));
}

/** A name must be declared. An unknown variable prints nothing; with an unknown function, rendering fails. */
export function unknownVariableRule(expression: Expression, context: RuleContext): void {
  if (expression.kind === 'call' && expression.callee.kind === 'name') {
    const { callee } = expression;
    if (context.valueOf(callee).kind !== 'missing') return;
    const names = [...Object.keys(FUNCTIONS), ...context.definitions.templateStrings.keys()];
    context.report(unknownFunction(context.span(callee), callee.name, names));
  } else if (expression.kind === 'name' && context.valueOf(expression).kind === 'missing') {
    context.report(unknownVariable(context.span(expression), expression.name, context.visibleNames()));
  }
}

// --- fields ----------------------------------------------------------------------------------------------------------

/**
 * Fields, enum values, and attributes of `ctx` and `loop` must exist: an unknown one prints nothing. `_` has two methods;
 * any other attribute of it fails.
 */
export function unknownFieldRule(expression: Expression, context: RuleContext): void {
  const access = accessOf(expression);
  if (access === undefined) return;
  const value = context.valueOf(access.object);
  const { name } = access;
  if (value.kind === 'enum') {
    const names = value.type.values.map((item) => item.name);
    if (!names.includes(name)) {
      context.report(unknownEnumValue(context.span(expression), { enumName: value.type.name, value: name, names }));
    }
    return;
  }
  if (value.kind === 'chat' && !CHAT_METHODS.includes(`_.${name}`)) {
    context.report(unknownFunction(context.span(expression), `_.${name}`, CHAT_METHODS));
  }
  const names = namesOf(value, context);
  if (names !== undefined && !names.known.includes(name)) {
    context.report(unknownField(context.span(expression), { owner: names.owner, name, names: names.known }));
  }
}

/** `object.name` and `object["name"]`. */
function accessOf(expression: Expression): { readonly object: Expression; readonly name: string } | undefined {
  if (expression.kind === 'attribute') return { object: expression.object, name: expression.name };
  if (expression.kind !== 'index' || expression.index.kind !== 'string') return undefined;
  return { object: expression.object, name: expression.index.value };
}

interface KnownNames {
  readonly owner: string;
  readonly known: readonly string[];
}

const CHAT_METHODS = ['_.role', '_.chat'];
const MAPPING_METHODS = ['items', 'keys', 'values', 'get'];

/** Returns the names of a value's attributes, or undefined if they are uncertain. */
function namesOf(value: StaticValue, context: RuleContext): KnownNames | undefined {
  if (value.kind === 'object') return { owner: `"${value.name}"`, known: [...value.attributes.keys()] };
  if (value.kind !== 'typed') return undefined;
  const types = alternatives(value.type, context.definitions);
  const classes = types.map((type) => (type.kind === 'class' ? context.definitions.classes.get(type.name) : undefined));
  const found = classes.filter((type) => type !== undefined);
  if (found.length === 0 || found.length < types.length || found.some((type) => type.dynamic)) return undefined;
  const known = [...found.flatMap((type) => type.fields.map((field) => field.name)), ...MAPPING_METHODS];
  return { owner: `class ${found.map((type) => `"${type.name}"`).join(' or ')}`, known };
}

// --- methods ---------------------------------------------------------------------------------------------------------

/**
 * A called method must exist for the type of the value, and its arguments must match. Otherwise, rendering fails.
 */
export function unknownMethodRule(expression: Expression, context: RuleContext): void {
  if (expression.kind !== 'call' || expression.callee.kind !== 'attribute') return;
  const { object, name } = expression.callee;
  const value = context.valueOf(object);
  if (value.kind !== 'typed') return;
  const types = alternatives(value.type, context.definitions);
  const methods = types.map(methodsOf);
  if (types.length === 0 || methods.includes(undefined)) return;
  const known = methods.flatMap((each) => Object.entries(each ?? {}));
  const found = known.filter(([each]) => each === name);
  if (found.length === 0) {
    context.report(unknownMethod(context.span(expression.callee), name, new Set(known.map(([each]) => each))));
  }
  const [parameters, ...others] = new Set(found.map(([, each]) => each));
  // The parameters depend on the value if two of its types have the method.
  if (parameters === undefined || others.length > 0) return;
  const { args, start, end } = expression;
  reportArguments({ what: `method "${name}"`, parameters, args, start, end }, context);
}

type Methods = Readonly<Record<string, readonly string[]>>;

const NO_METHODS: Methods = {};

/** Returns undefined for a type with unknown methods. */
function methodsOf(type: Type): Methods | undefined {
  switch (type.kind) {
    case 'string':
      return METHODS.string;
    case 'literal':
      return typeof type.value === 'string' ? METHODS.string : NO_METHODS;
    case 'list':
      return METHODS.list;
    case 'map':
    case 'class':
      return METHODS.map;
    case 'int':
    case 'float':
    case 'bool':
    case 'enum':
    case 'media':
      return NO_METHODS;
    case 'null':
    case 'alias':
    case 'union':
      return undefined;
  }
}
