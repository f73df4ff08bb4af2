import type { JsonValue } from '../../../src/base/json.ts';
import type { ClientType, OptionEntry, OptionValue, RetryPolicyType } from '../../../src/schema/client.ts';
import type { Constraint } from '../../../src/schema/constraint.ts';
import type { FunctionType, ParameterType, TemplateStringType, Definitions } from '../../../src/schema/program.ts';
import type { AliasType, ClassType, EnumType, EnumValueType, FieldType, Type } from '../../../src/schema/type.ts';

/**
 * Prints checked definitions in the definition language, with every name resolved and every type written out. Prompts and
 * templates are omitted. Definitions that are printed, parsed and checked are the same definitions.
 */
export function printDefinitions(definitions: Definitions): string {
  return [
    ...definitions.classes.map(printClass),
    ...definitions.enums.map(printEnum),
    ...definitions.aliases.map(printAlias),
    ...definitions.templateStrings.map(printTemplateString),
    ...definitions.retryPolicies.map(printRetryPolicy),
    ...definitions.clients.map(printClient),
    ...definitions.functions.flatMap(printFunction),
  ].join('');
}

/** A type as it is written in a field. */
function printType(type: Type): string {
  const attributes = [
    ...(type.constraints ?? []).map((constraint) => printConstraint(constraint, '@')),
    ...(type.stream?.done === true ? ['@stream.done'] : []),
    ...(type.stream?.withState === true ? ['@stream.with_state'] : []),
  ];
  return [printShape(type), ...attributes].join(' ');
}

function printShape(type: Type): string {
  switch (type.kind) {
    case 'class':
    case 'enum':
    case 'alias':
      return type.name;
    case 'list':
      return `${printInner(type.element)}[]`;
    case 'map':
      return `map<${printType(type.key)}, ${printType(type.value)}>`;
    case 'union':
      return `(${type.members.map(printInner).join(' | ')})`;
    case 'literal':
      return JSON.stringify(type.value);
    case 'media':
      return type.media;
    default:
      return type.kind;
  }
}

function printInner(type: Type): string {
  const text = printType(type);
  return text.includes('@') && type.kind !== 'union' ? `(${text})` : text;
}

function printConstraint({ level, label, source }: Constraint, sign: '@' | '@@'): string {
  return `${sign}${level}(${label === undefined ? '' : `${label}, `}{{ ${source} }})`;
}

function block(head: string, lines: readonly string[]): string {
  return `${head} {\n${lines.map((line) => `  ${line}\n`).join('')}}\n`;
}

interface Described {
  readonly alias?: string;
  readonly description?: string;
}

function descriptions({ alias, description }: Described, sign: '@' | '@@'): readonly string[] {
  return [
    ...(alias === undefined ? [] : [`${sign}alias(${JSON.stringify(alias)})`]),
    ...(description === undefined ? [] : [`${sign}description(${JSON.stringify(description)})`]),
  ];
}

function docs(documentation: string | undefined): readonly string[] {
  return documentation === undefined ? [] : documentation.split('\n').map((line) => `/// ${line}`);
}

function documented(documentation: string | undefined, text: string): string {
  return [...docs(documentation), text].join('\n');
}

function printClass(node: ClassType): string {
  const body = block(`class ${node.name}`, [
    ...node.fields.flatMap(printField),
    ...descriptions(node, '@@'),
    ...node.constraints.map((constraint) => printConstraint(constraint, '@@')),
    ...(node.streamDone ? ['@@stream.done'] : []),
    ...(node.dynamic ? ['@@dynamic'] : []),
  ]);
  return documented(node.documentation, body);
}

function printField(field: FieldType): readonly string[] {
  const attributes = [
    ...descriptions(field, '@'),
    ...(field.skip ? ['@skip'] : []),
    ...(field.streamNotNull ? ['@stream.not_null'] : []),
  ];
  return [...docs(field.documentation), [field.name, printType(field.type), ...attributes].join(' ')];
}

function printEnum(node: EnumType): string {
  const body = block(`enum ${node.name}`, [
    ...node.values.flatMap(printValue),
    ...descriptions(node, '@@'),
    ...(node.constraints ?? []).map((constraint) => printConstraint(constraint, '@@')),
    ...(node.dynamic ? ['@@dynamic'] : []),
  ]);
  return documented(node.documentation, body);
}

function printValue(value: EnumValueType): readonly string[] {
  const line = [value.name, ...descriptions(value, '@'), ...(value.skip ? ['@skip'] : [])].join(' ');
  return [...docs(value.documentation), line];
}

function printAlias({ name, type, documentation }: AliasType): string {
  return documented(documentation, `type ${name} = ${printType(type)}\n`);
}

function printParameters(parameters: readonly ParameterType[]): string {
  return parameters.map(({ name, type }) => `${name}: ${printType(type)}`).join(', ');
}

function printTemplateString({ name, parameters }: TemplateStringType): string {
  return `template_string ${name}(${printParameters(parameters)}) #""#\n`;
}

function printFunction(node: FunctionType): readonly string[] {
  const head = `function ${node.name}(${printParameters(node.parameters)}) -> ${printType(node.returns)}`;
  const body = block(head, [`client ${JSON.stringify(node.client)}`, 'prompt #""#']);
  const tests = node.examples.map(({ name, args }) =>
    block(`test ${name}`, [`functions [${node.name}]`, `args ${printJson(args)}`]),
  );
  return [documented(node.documentation, body), ...tests];
}

function printJson(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(printJson).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{ ${Object.entries(value)
    .map(([key, inner]) => `${printKey(key)} ${printJson(inner)}`)
    .join(', ')} }`;
}

function printKey(key: string): string {
  return /^[A-Za-z_][\w-]*$/u.test(key) ? key : JSON.stringify(key);
}

function printRetryPolicy({ name, maxRetries, strategy, statuses, onInvalidReply }: RetryPolicyType): string {
  const strategyText =
    strategy.kind === 'constant'
      ? `type constant_delay, delay_ms ${strategy.delayMs}`
      : `type exponential_backoff, delay_ms ${strategy.delayMs}, multiplier ${strategy.multiplier}, max_delay_ms ${strategy.maxDelayMs}`;
  return block(`retry_policy ${name}`, [
    `max_retries ${maxRetries}`,
    `strategy { ${strategyText} }`,
    ...(statuses === undefined ? [] : [`statuses [${statuses.join(', ')}]`]),
    ...(onInvalidReply === undefined ? [] : [`on_invalid_reply ${onInvalidReply}`]),
  ]);
}

function printClient({ name, provider, options, retryPolicy }: ClientType): string {
  return block(`client<llm> ${name}`, [
    `provider ${provider}`,
    ...(retryPolicy === undefined ? [] : [`retry_policy ${retryPolicy}`]),
    ...(options.length === 0 ? [] : ['options {', ...options.map((entry) => `  ${printEntry(entry)}`), '}']),
  ]);
}

function printEntry({ key, value }: OptionEntry): string {
  return `${printKey(key)} ${printOption(value)}`;
}

function printOption(value: OptionValue): string {
  switch (value.kind) {
    case 'scalar':
      return JSON.stringify(value.value);
    case 'env':
      return `env.${value.variable}`;
    case 'list':
      return `[${value.items.map(printOption).join(', ')}]`;
    case 'map':
      return `{ ${value.entries.map(printEntry).join(', ')} }`;
  }
}
