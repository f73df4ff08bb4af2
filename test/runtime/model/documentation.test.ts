import {
  ANTHROPIC_REPLIES,
  BEDROCK_REPLIES,
  CHAT_REPLIES,
  GOOGLE_REPLIES,
  RESPONSES_REPLIES,
  TOKEN_COUNTS,
  type Ending,
  type ReplyFacts,
} from '../../../src/schema/providers/replies.ts';
import { readFileSync } from 'node:fs';
import { countName } from '../../support/count-name.ts';
import { expect, test } from 'vitest';
import { clientFailure } from '../../../src/runtime/model/attempt-failure.ts';
import { canRetry } from '../../../src/runtime/model/strategies/run-plan.ts';
import { COMMON_OPTIONS, HTTP_SETTINGS } from '../../../src/schema/providers/common-options.ts';
import type { OptionDescription, OptionTable } from '../../../src/schema/providers/option-shapes.ts';
import type { SchemaLimits } from '../../../src/schema/providers/structured-output.ts';
import { PROVIDER_DESCRIPTIONS, PROVIDERS, type Provider } from '../../../src/schema/providers/providers.ts';
import { FALLBACK } from '../../../src/schema/providers/strategies.ts';
import type { MediaKind } from '../../../src/schema/type.ts';
import { generatedSection, type GeneratedSection } from '../../docs/generated-section.ts';
import { outcomeOf, readExchanges, sections, type Exchange } from '../../support/exchanges.ts';
import { retryWaits } from '../../support/retry-waits.ts';
import { compileText } from '../../support/test-runtime.ts';

const PAGE = 'docs/clients.md';
const page = readFileSync(new URL(`../../../${PAGE}`, import.meta.url), 'utf8');

/** The descriptions of the providers generate the tables of the page: `UPDATE_DOCS=1` writes them. */
function tableSection(name: string, header: readonly string[], rows: readonly (readonly string[])[]): GeneratedSection {
  return generatedSection(PAGE, name, table(header, rows));
}

function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  return [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function code(text: string): string {
  return `\`${text}\``;
}

/** The text of an option, with its default. */
function effect({ text = '', default: fallback }: OptionDescription): string {
  return fallback === undefined || typeof fallback === 'object' ? text : `${text} (default: \`${fallback}\`)`;
}

test('the table of providers matches their descriptions', () => {
  const rows = PROVIDERS.map((name) => {
    const { http, docs, legacyName } = PROVIDER_DESCRIPTIONS[name];
    const address = docs.address ?? code(http?.defaultUrl ?? '');
    const key = docs.key ?? code(http?.keyVariable ?? '');
    return [code(name), address, key, docs.model, legacyName === undefined ? '' : code(legacyName)];
  });
  const { actual, expected } = tableSection(
    'providers',
    ['provider', 'address', 'key, without `api_key`', 'model', 'older name'],
    rows,
  );
  expect(actual).toBe(expected);
});

const { exchanges } = readExchanges();

const isCall = (exchange: Exchange): boolean => sections(exchange, 'call').length > 0;
const isStream = (exchange: Exchange): boolean => sections(exchange, 'stream').length > 0;
const hasValue = (exchange: Exchange): boolean => outcomeOf(exchange)['value'] !== undefined;
const hasReasoning = (exchange: Exchange): boolean => outcomeOf(exchange)['reasoning'] !== undefined;

/** The features in the table of the page, and the recorded exchanges that a provider with the feature has. */
const FEATURES: Readonly<Record<string, ReadonlyArray<(exchange: Exchange) => boolean>>> = {
  'plain call': [(exchange) => isCall(exchange) && hasValue(exchange)],
  stream: [(exchange) => isStream(exchange) && hasValue(exchange)],
  'structured output': [
    (exchange) => sections(exchange, 'client').join('').includes('structured_output') && hasValue(exchange),
  ],
  're-ask': [(exchange) => JSON.stringify(outcomeOf(exchange)['attempts'] ?? '').includes('"re-ask ok"')],
  reasoning: [
    (exchange) => isCall(exchange) && hasReasoning(exchange),
    (exchange) => isStream(exchange) && hasReasoning(exchange),
  ],
  'token counts': [
    (exchange) =>
      Object.keys(outcomeOf(exchange)['usage'] ?? {})
        .join()
        .includes('inputTokens,outputTokens'),
  ],
};

test('the table of features has a recorded exchange for each cell', () => {
  const providers = PROVIDERS.filter((name) => PROVIDER_DESCRIPTIONS[name].http !== undefined);
  expect(providers).toHaveLength(10);
  const rows = providers.map((name) => {
    const own = exchanges.filter(({ file }) => file === name);
    const cells = Object.values(FEATURES).map((kinds) => kinds.every((kind) => own.some(kind)));
    const link = `[${code(name)}](../test/runtime/model/exchanges/${name}.txt)`;
    return [link, ...cells.map((recorded) => (recorded ? 'yes' : 'no exchange'))];
  });
  expect(rows.flat().filter((cell) => cell === 'no exchange')).toEqual([]);
  const { actual, expected } = tableSection('features', ['provider', ...Object.keys(FEATURES)], rows);
  expect(actual).toBe(expected);
});

test('the options that ask for reasoning are those of the recorded exchanges', () => {
  const [, rows = ''] = /^### Reasoning[^]*?^\| ---[^\n]*\n([^]*?)\n\n/mu.exec(page) ?? [];
  const options = rows.split('\n').map((row) => row.split('|').map((cell) => cell.trim()));
  expect(options.length).toBeGreaterThan(5);
  for (const [, names = '', , cell = ''] of options) {
    const [option] = /(?<=`)[^`]*/u.exec(cell) ?? [];
    for (const name of option === undefined ? [] : names.split(', ')) {
      const own = exchanges.filter((exchange) => exchange.file === name && hasReasoning(exchange));
      const clients = own.map((exchange) => sections(exchange, 'client').join('').replaceAll(/\s+/gu, ' '));
      expect(clients, name).toContainEqual(expect.stringContaining((option ?? '').replaceAll(',', '')));
    }
  }
});

/** The options that a provider does not share with all others, or describes in its own words. */
function ownOptions(name: Provider): ReadonlyArray<readonly [string, OptionDescription]> {
  const common: OptionTable = COMMON_OPTIONS;
  const { options } = PROVIDER_DESCRIPTIONS[name];
  return Object.entries(options).filter(
    ([key, { text }]) => common[key]?.text !== text && !(key === 'model' && text === 'the name of the model'),
  );
}

test('the table of single options matches the descriptions', () => {
  const rows = PROVIDERS.flatMap((name) =>
    ownOptions(name).map(([key, option]) => ({ key, text: effect(option), names: [name] as readonly Provider[] })),
  );
  const merged = rows
    .map((row) => ({ ...row, names: rows.filter((other) => other.key === row.key && other.text === row.text) }))
    .filter((row, at, all) => all.findIndex((other) => other.key === row.key && other.text === row.text) === at)
    .map(({ key, text, names }) => [names.flatMap((each) => each.names).join(', '), code(key), text]);
  expect(merged.length).toBeGreaterThan(25);
  const { actual, expected } = tableSection('own options', ['provider', 'option', 'effect'], merged);
  expect(actual).toBe(expected);
});

test('the table of common options matches the descriptions', () => {
  const options: OptionTable = { model: { shape: { kind: 'json' }, text: 'the name of the model' }, ...COMMON_OPTIONS };
  const rows = Object.entries(options).map(([key, option]) => [code(key), effect(option)]);
  const { actual, expected } = tableSection('common options', ['option', 'effect'], rows);
  expect(actual).toBe(expected);
});

/** Describes the types that `limits` exclude. */
function exclusions(limits: SchemaLimits): string {
  const { maxMembers, memberNames, recursion } = limits;
  const parts = [
    ...(recursion === 'no' ? ['recursive types'] : []),
    ...(recursion === 'in optional members'
      ? ['types that are recursive outside of optional fields, lists and maps']
      : []),
    ...(memberNames === undefined ? [] : [`keys that do not match \`${memberNames.source}\``]),
    ...(maxMembers === undefined ? [] : [`more than ${maxMembers} fields`]),
  ];
  return parts.length === 0 ? 'nothing' : parts.join(', ');
}

/** Describes how svc changes a schema for `limits`. */
function changes({ bounds, definitions, noBooleanLiterals, openObjects, recursion, strict }: SchemaLimits): string {
  const parts = [
    ...(strict === undefined
      ? []
      : [
          `\`strict\`, unless the type has maps or more than ${strict.maxMembers} fields, ${strict.maxDepth} levels or ${strict.maxEnumValues} enum values`,
        ]),
    ...(definitions === 'inline' ? ['classes are expanded at each use'] : []),
    ...(openObjects === true ? ['objects allow additional keys'] : []),
    ...(recursion === 'in optional members' ? ['recursive fields are not required'] : []),
    ...(noBooleanLiterals === true ? ['a literal `true` or `false` is any boolean'] : []),
    ...(bounds === undefined ? [] : [`has the bounds ${[...bounds].map(code).join(', ')} of JSON Schemas`]),
  ];
  return parts.length === 0 ? 'unchanged' : parts.join('; ');
}

test('the table of structured output matches the descriptions', () => {
  const forms = PROVIDERS.flatMap((name) => {
    const form = PROVIDER_DESCRIPTIONS[name].http?.structured({});
    return form === undefined ? [] : [{ name, form }];
  });
  expect(forms).toHaveLength(10);
  const rows = forms.map(({ name, form: { limits, text, unknownServer } }) => [
    code(name),
    unknownServer === true ? 'no' : 'yes',
    text,
    changes(limits),
    exclusions(limits),
    limits.source,
  ]);
  const { actual, expected } = tableSection(
    'structured output',
    ['provider', 'with `auto`', 'form', 'the schema', 'not supported', 'source of the limits'],
    rows,
  );
  expect(actual).toBe(expected);
});

test('the table of time limits matches the descriptions', () => {
  const settings: OptionTable = { ...HTTP_SETTINGS, ...FALLBACK.options.http.shape.settings };
  const limits = Object.entries(settings).filter(([, { text }]) => text !== undefined);
  const rows = limits.map(([key, { default: limit, text }]) => [
    code(key),
    JSON.stringify(limit) ?? 'none',
    text ?? '',
  ]);
  const { actual, expected } = tableSection('time limits', ['in `http { … }`', 'default', 'until'], rows);
  expect(actual).toBe(expected);
});

test('the page names every variable of the clouds', () => {
  const variables = PROVIDERS.flatMap((name) => PROVIDER_DESCRIPTIONS[name].http?.variables ?? []);
  expect(variables.length).toBeGreaterThan(20);
  for (const variable of variables.filter((each) => each !== 'HOME')) expect(page).toContain(`\`${variable}\``);
});

/** Media that svc inlines unless the client decides otherwise are `inline` in the table. */
test.each<[Provider, string]>([
  ['openai', 'chat completions'],
  ['openai-responses', 'openai-responses'],
  ['anthropic', 'anthropic'],
  ['google-ai', 'google-ai'],
  ['vertex-ai', 'google-ai'],
])('the table of media has the defaults of %s', (name, row) => {
  const media = page.slice(page.indexOf('| image |'));
  const line = media.split('\n').find((each) => each.startsWith(`| ${row}`)) ?? '';
  const cells = line.split('|').map((cell) => cell.trim());
  const kinds: readonly MediaKind[] = ['image', 'audio', 'pdf'];
  for (const [at, kind] of kinds.entries()) {
    const inlined = PROVIDER_DESCRIPTIONS[name].http?.mediaUrls[kind] === 'send_base64';
    expect(cells[at + 2] === 'inline', `${kind}: "${cells[at + 2]}"`).toBe(inlined);
  }
});

test('the page lists the statuses after which svc retries', () => {
  const failure = clientFailure('A', 'failed');
  const retried = Array.from({ length: 200 }, (_, index) => 400 + index).filter((upstreamStatus) =>
    canRetry({ failure, retry: 'status', upstreamStatus }, {}),
  );
  expect(retried.filter((status) => status < 500)).toEqual([408, 409, 425, 429]);
  expect(retried).toHaveLength(104);
  expect(page).toContain('408, 409, 425, 429 and 500 to 599');
});

test('the definitions on the page compile, and their policy waits as the page states', async () => {
  const blocks = [...page.matchAll(/```baml\n(.*?)```/gsu)].map(([, block = '']) => block);
  expect(blocks).toHaveLength(6);
  const program = compileText(`${blocks.join('\n')}
${['Other', 'Main', 'Canary'].map((name) => `client<llm> ${name} {\n  provider offline\n}\n`).join('')}function F() -> string {
  client Robust
  prompt #"hello"#
}`);
  const [policy] = program.retryPolicies;
  expect(policy && (await retryWaits(policy)).waits).toEqual([300, 450, 675]);
  expect(page).toContain('300, 450, 675 ms');
});

/** The providers that answer in each format. */
const FORMATS: readonly (readonly [providers: string, facts: ReplyFacts])[] = [
  ['`openai`, `openai-generic`, `azure-openai`, `ollama`, `openrouter`', CHAT_REPLIES],
  ['`openai-responses`', RESPONSES_REPLIES],
  ['`anthropic`, `vertex-ai` with Claude', ANTHROPIC_REPLIES],
  ['`google-ai`, `vertex-ai`', GOOGLE_REPLIES],
  ['`aws-bedrock`', BEDROCK_REPLIES],
];

const ENDINGS: readonly Ending[] = ['cut', 'tool', 'refused', 'filtered', 'unfinished', 'failed'];

test('the table of finish reasons matches the formats', () => {
  const rows = FORMATS.map(([providers, { finishReasons }]) => [
    providers,
    ...ENDINGS.map((ending) =>
      Object.entries(finishReasons)
        .filter(([, each]) => each === ending)
        .map(([reason]) => code(reason))
        .join(', '),
    ),
  ]);
  const { actual, expected } = tableSection('finish reasons', ['provider', ...ENDINGS], rows);
  expect(actual).toBe(expected);
});

test('the table of token counts matches the formats', () => {
  const rows = TOKEN_COUNTS.map((name) => [
    code(countName(name)),
    ...FORMATS.map(([, { counts }]) =>
      (counts[name] ?? [])
        .map(
          ({ path, plus = [], of }) => `${[path, ...plus].map(code).join(' + ')}${of === undefined ? '' : ` (${of})`}`,
        )
        .join('<br>'),
    ),
  ]);
  const { actual, expected } = tableSection('token counts', ['count', ...FORMATS.map(([names]) => names)], rows);
  expect(actual).toBe(expected);
});

test('the surprises of recorded exchanges match the formats', () => {
  const rows = FORMATS.flatMap(([providers, { surprises }]) => surprises.map((text) => [providers, text]));
  const { actual, expected } = tableSection('surprises', ['provider', 'what it does'], rows);
  expect(actual).toBe(expected);
});
