import type { Hover, Range } from 'vscode-languageserver/node';
import { counted } from '../../base/amounts.ts';
import type { DeclarationNode } from '../../compiler/1-parse/syntax-nodes.ts';
import { providerOf } from '../../compiler/2-check/node-values.ts';
import type { StaticValue } from '../../compiler/2-check/templates/static-value.ts';
import { NO_RULES } from '../../compiler/2-check/templates/template-walker.ts';
import type { DefinitionSymbol } from '../../compiler/symbols.ts';
import { maskedText } from '../../diagnostics/report-formats.ts';
import type { SourceFile } from '../../diagnostics/source-file.ts';
import type { Message } from '../../schema/message.ts';
import type { OptionDescription, Shape } from '../../schema/providers/option-shapes.ts';
import type { Expression, FilterCall } from '../../schema/template.ts';
import { FILTER_OPERANDS, FILTER_RESULTS, FILTERS, isFilterName, OPERANDS } from '../../schema/template-vocabulary.ts';
import { typeText } from '../../schema/type-graph.ts';
import type { EditedProgram, SymbolPlace } from './edited-program.ts';
import { declarationAt, rangeOf, touches } from './places.ts';
import { settingAt } from './setting-place.ts';
import { knownType, templateAt, walkTemplate } from './template-place.ts';
import type { FilePlace } from './workspace.ts';

/** Renders the prompt of a function for its first test, or states why there is none; undefined without a test. */
export type RenderPrompt = (program: EditedProgram, functionName: string) => Promise<RenderedPrompt | undefined>;

/** A prompt, or the sentence why it cannot be rendered. */
export type RenderedPrompt = { readonly test: string } & (
  | { readonly messages: readonly Message[] }
  | { readonly problem: string }
);

/** Longer definitions and prompts would fill the screen. */
const MOST_LINES = 40;

/** Describes the name, setting or expression at an offset. */
export async function hoverAt({ program, path, offset }: FilePlace, render: RenderPrompt): Promise<Hover | undefined> {
  const document = program.document(path);
  if (document === undefined) return undefined;
  const places = program.symbolsAt(path, offset);
  const [first] = places;
  if (first !== undefined) {
    const texts = await Promise.all(places.map((place) => describeSymbol(program, place, render)));
    return markdown(texts.join('\n\n---\n\n'), rangeOf(document.file, first.span));
  }
  const owner = declarationAt(document, offset);
  return owner && (hoverOfSetting(owner, document.file, offset) ?? hoverOfTemplate(program, document.file, offset));
}

function markdown(value: string, range: Range): Hover {
  return { contents: { kind: 'markdown', value }, range };
}

// --- symbols ---------------------------------------------------------------------------------------------------------

async function describeSymbol(program: EditedProgram, { symbol }: SymbolPlace, render: RenderPrompt): Promise<string> {
  const uses = symbol.occurrences.length;
  const parts = [
    code(declarationText(program, symbol)),
    documentationOf(program, symbol),
    uses === 0 ? 'Used nowhere else.' : `Used in ${counted(uses, 'place')}.`,
  ];
  if (symbol.kind === 'function') parts.push(await promptText(program, symbol.name, render));
  return parts.filter((part) => part !== '').join('\n\n');
}

/** The declaration as the file has it, without its comments; of a function, only its head. Literal credentials are masked. */
function declarationText(program: EditedProgram, symbol: DefinitionSymbol): string {
  const { file: path, start } = symbol.declaration;
  const document = program.document(path);
  const nodes = document?.declarations.flatMap((each) => (each.kind === 'test' ? [...each.types, each] : [each]));
  const node = nodes?.find(({ span }) => touches(span, start));
  if (document === undefined || node === undefined) return symbol.name;
  const { file } = document;
  switch (symbol.kind) {
    case 'field':
    case 'enum-value':
      return `${symbol.owner ?? ''}.${file.lineText(file.positionAt(start).line, file.text).trim()}`;
    case 'parameter':
    case 'variable':
      return memberText(program, symbol);
    case 'function':
      return textUpTo(file, node, '{');
    case 'template_string':
      return textUpTo(file, node, '#');
    default:
      return shortened(maskedText(file).slice(node.span.start, node.span.end));
  }
}

function textUpTo(file: SourceFile, { span }: DeclarationNode, end: string): string {
  const text = file.text.slice(span.start, span.end);
  const at = text.indexOf(end);
  return text.slice(0, at < 0 ? undefined : at).trim();
}

function memberText(program: EditedProgram, { kind, name, owner = '', declaration }: DefinitionSymbol): string {
  const { functions, templateStrings } = program.definitions();
  if (kind === 'parameter') {
    const parameters = (functions.get(owner) ?? templateStrings.get(owner))?.parameters ?? [];
    const type = parameters.find((each) => each.name === name)?.type;
    return type === undefined ? name : `${name}: ${typeText(type)}`;
  }
  return `${name}${valueText(valueAt(program, declaration.file, declaration.start))}`;
}

function documentationOf(program: EditedProgram, { kind, name, owner = '' }: DefinitionSymbol): string {
  const { classes, enums, functions, aliases } = program.definitions();
  const ofMember = (members: ReadonlyArray<{ readonly name: string; readonly documentation?: string }> = []): string =>
    members.find((each) => each.name === name)?.documentation ?? '';
  if (kind === 'field') return ofMember(classes.get(owner)?.fields);
  if (kind === 'enum-value') return ofMember(enums.get(owner)?.values);
  const node = { class: classes, enum: enums, function: functions, alias: aliases };
  if (!Object.hasOwn(node, kind)) return '';
  return node[kind as keyof typeof node].get(name)?.documentation ?? '';
}

async function promptText(program: EditedProgram, functionName: string, render: RenderPrompt): Promise<string> {
  const rendered = await render(program, functionName);
  if (rendered === undefined) return '';
  if ('problem' in rendered) return `The prompt of the test "${rendered.test}" cannot be rendered. ${rendered.problem}`;
  const text = rendered.messages.map(messageText).join('\n\n');
  return `The prompt for the test "${rendered.test}":\n\n${code(shortened(text), 'text')}`;
}

function messageText({ role, parts }: Message): string {
  const texts = parts.map((part) => (part.kind === 'text' ? part.text : `(${part.media})`));
  return `[${role}]\n${texts.join('')}`;
}

function shortened(text: string): string {
  const lines = text.split('\n');
  return lines.length <= MOST_LINES ? text : [...lines.slice(0, MOST_LINES), '…'].join('\n');
}

/** The fence is longer than any in the text. */
function code(text: string, language = 'svc'): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/gu)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

// --- settings --------------------------------------------------------------------------------------------------------

function hoverOfSetting(owner: DeclarationNode, file: SourceFile, offset: number): Hover | undefined {
  const place = settingAt(owner, offset);
  if (place?.on !== 'key') return undefined;
  const { key, table } = place;
  const described = Object.hasOwn(table, key.text) ? table[key.text] : undefined;
  if (described === undefined) return undefined;
  const provider = owner.kind === 'client' ? providerOf(owner) : undefined;
  const title = `\`${key.text}\`${provider === undefined ? '' : ` of provider \`${provider}\``}`;
  return markdown([title, ...factsOf(described)].join('\n\n'), rangeOf(file, key.span));
}

function factsOf({
  shape,
  text,
  default: fallback,
  fromVariables = [],
  required,
}: OptionDescription): readonly string[] {
  const expected = expectedBy(shape);
  const variables = fromVariables.map((name) => `\`${name}\``).join(', ');
  return [
    ...(text === undefined ? [] : [withoutLinks(text)]),
    ...(expected === '' ? [] : [`Value: ${expected}`]),
    ...(required === true ? ['Required'] : []),
    ...(fallback === undefined ? [] : [`Default: \`${JSON.stringify(fallback)}\``]),
    ...(variables === '' ? [] : [`Read from ${variables} if it is absent`]),
  ];
}

/** The links lead to sections of docs/clients.md. */
function withoutLinks(text: string): string {
  return text.replaceAll(/\[([^\]]*)\]\(#[^)]*\)/gu, '$1');
}

function expectedBy(shape: Shape): string {
  if (shape.kind === 'one-of') return shape.words.map((word) => `\`${word}\``).join(', ');
  if ('expected' in shape) return shape.expected ?? '';
  return { json: '', text: '', url: 'an http or https URL', boolean: '`true` or `false`', duration: 'a duration' }[
    shape.kind
  ];
}

// --- templates -------------------------------------------------------------------------------------------------------

function hoverOfTemplate(program: EditedProgram, file: SourceFile, offset: number): Hover | undefined {
  const found = expressionAt(program, file.path, offset);
  if (found === undefined) return undefined;
  const { part, value } = found;
  const text = 'kind' in part ? valueText(value) : filterText(part);
  if (text === '') return undefined;
  const name = 'kind' in part ? file.text.slice(part.start, part.end) : '';
  return markdown(code(`${name}${text}`), rangeOf(file, part));
}

interface FoundExpression {
  readonly part: Expression | FilterCall;
  readonly value: StaticValue;
}

/** Returns the innermost name, member or filter at an offset of a template. */
function expressionAt(program: EditedProgram, path: string, offset: number): FoundExpression | undefined {
  const document = program.document(path);
  const place = document && templateAt(document, offset);
  if (place === undefined) return undefined;
  let filter: FilterCall | undefined;
  const walker = walkTemplate(place, program.analysis(), program.definitions(), {
    ...NO_RULES,
    filters: [
      (each) => {
        if (each.start <= offset && offset <= each.start + each.name.length) filter = each;
      },
    ],
  });
  if (filter !== undefined) return { part: filter, value: { kind: 'any' } };
  const around = [...walker.visited()].filter(
    (each) => touches(each, offset) && (each.kind === 'name' || each.kind === 'attribute'),
  );
  const [part] = around.toSorted((a, b) => a.end - a.start - (b.end - b.start));
  return part && { part, value: walker.valueOf(part) };
}

/** The known properties of a variable, where a template declares it. */
function valueAt(program: EditedProgram, path: string, start: number): StaticValue {
  const document = program.document(path);
  const place = document && templateAt(document, start);
  if (place === undefined) return { kind: 'any' };
  const walker = walkTemplate(place, program.analysis(), program.definitions(), NO_RULES);
  return [...walker.locals].find(([, first]) => first.start === start)?.[0] ?? { kind: 'any' };
}

function valueText(value: StaticValue): string {
  const type = knownType(value);
  if (type !== '') return `: ${type}`;
  if (value.kind === 'object') return `: ${[...value.attributes.keys()].join(', ')}`;
  if (value.kind === 'output-format') return ': the description of the return type';
  return value.kind === 'chat' ? ': role(…), which begins a message' : '';
}

/** The call of a filter, its operand and its result. */
function filterText({ name }: FilterCall): string {
  if (!isFilterName(name)) return '';
  const operand = FILTER_OPERANDS[name]?.['value'];
  const takes = operand === undefined ? '' : ` of ${OPERANDS[operand].words}`;
  const returns = FILTER_RESULTS[name];
  const parameters = FILTERS[name].length === 0 ? '' : `(${FILTERS[name].join(', ')})`;
  return `filter ${name}${parameters}${takes}${returns === undefined ? '' : ` -> ${returns}`}`;
}
