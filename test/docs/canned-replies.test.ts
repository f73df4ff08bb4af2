import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isJsonObject, type JsonValue } from '../../src/base/json.ts';
import { compile } from '../../src/compiler/compile.ts';
import { testArguments } from '../../src/dev/testing/test-arguments.ts';
import { SourceFile } from '../../src/diagnostics/source-file.ts';
import { resolveValue } from '../../src/schema/client.ts';
import { indexDefinitions, type Program, type TestType } from '../../src/schema/program.ts';
import { ROOT } from '../architecture/source-files.ts';
import { blocksOf } from '../support/documented-page.ts';

/**
 * A first answer must not look invented: what the canned replies of samples state is in the text that the samples send. These members are
 * the model's own words about that text: reasons, summaries, answers, codes and words to search for.
 */
const OWN_WORDS: Readonly<Record<string, readonly string[]>> = {
  svc_src: ['summary'],
  'templates/agent.svc': ['text', 'reason', 'words'],
  'templates/classify.svc': ['reason', 'languages'],
  'templates/contact.svc': ['wants'],
  'templates/rag.svc': ['answer'],
};

/** Of the pages whose commands send arguments, and show the answer. */
const OWN_WORDS_OF_PAGES: ReadonlySet<string> = new Set(['wants', 'urgency', 'jsonrpc']);

const SAMPLES = ['svc_src', ...filesIn('templates', '.svc')];

/** The files of a folder with this extension, as paths in the repository. */
function filesIn(folder: string, extension: string): readonly string[] {
  const names = readdirSync(join(ROOT, folder)).filter((name) => name.endsWith(extension));
  return names.toSorted().map((name) => `${folder}/${name}`);
}

interface Statement {
  readonly key: string;
  readonly text: string;
}

/** The strings in a reply, each with the key before it. The reply can be damaged JSON with prose around it. */
function statementsIn(reply: string): readonly Statement[] {
  const statements: Statement[] = [];
  let key = '';
  for (const [, text = '', colon] of reply.matchAll(/"((?:[^"\\]|\\.)*)"\s*(:)?/gu)) {
    if (colon === undefined) statements.push({ key, text });
    else key = text;
  }
  return statements;
}

const MONTHS = 'January February March April May June July August September October November December'.split(' ');

/** Whether a text contains the statement: in any case, and a month such as 1842-05 in words. */
function contains(input: string, { text }: Statement): boolean {
  const words = text.replace(/^(\d{4})-(\d\d)$/u, (_, year: string, month: string) => {
    return `${MONTHS[Number(month) - 1] ?? month} ${year}`;
  });
  return input.toLowerCase().includes(words.toLowerCase());
}

interface Canned {
  readonly function?: string;
  readonly contains?: string;
  readonly reply: JsonValue;
}

/** The canned replies of a function's client, in order. */
function repliesOf({ clients, functions }: Program, functionName: string): readonly Canned[] {
  const name = functions.find((fn) => fn.name === functionName)?.client;
  const options = clients.find((client) => client.name === name)?.options ?? [];
  const values = Object.fromEntries(options.map(({ key, value }) => [key, resolveValue(value, () => '')]));
  const { replies = [], reply } = values as { readonly replies?: readonly Canned[]; readonly reply?: JsonValue };
  return [...replies, ...(reply === undefined ? [] : [{ reply }])];
}

/** The values that the types name: their text is not in the input. */
function namesIn({ enums, classes }: Program): ReadonlySet<string> {
  const names = enums.flatMap(({ values }) => values.flatMap(({ name, alias }) => [name, alias ?? name]));
  const literals = [...JSON.stringify(classes).matchAll(/"kind":"literal","value":"([^"]+)"/gu)];
  return new Set([...names, ...literals.map(([, value = '']) => value)].map((name) => name.toLowerCase()));
}

function compiled(sample: string): { readonly program: Program; readonly tests: readonly TestType[] } {
  const paths = sample.endsWith('.svc') ? [sample] : filesIn(sample, '.svc');
  const files = paths.map((path) => new SourceFile(path, readFileSync(join(ROOT, path), 'utf8')));
  const { program, tests } = compile(files, { version: '0.1.0', versionCheck: false, beta: false, apiKey: false });
  if (program === undefined) throw new Error(`${sample} has errors`);
  return { program, tests };
}

function textsIn(value: JsonValue): readonly string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap((item: JsonValue) => textsIn(item));
  return isJsonObject(value) ? Object.values(value).flatMap(textsIn) : [];
}

interface SampleCall {
  readonly title: string;
  readonly input: string;
  readonly reply: string;
}

/** The calls of the tests of a sample, each with its canned reply. */
function callsOf({ program, tests }: ReturnType<typeof compiled>): readonly SampleCall[] {
  const definitions = indexDefinitions(program);
  const pairs = tests.flatMap((declared) => declared.functions.map((name) => [declared, name] as const));
  return pairs.map(([declared, name]) => {
    const fn = definitions.functions.get(name);
    const args = fn === undefined ? undefined : testArguments(declared, fn, { definitions, env: {} });
    if (args?.ok !== true) throw new Error(`the arguments of ${declared.name} cannot be read`);
    const json = JSON.stringify(args.value);
    const isFor = (canned: Canned): boolean => (canned.function ?? name) === name && json.includes(canned.contains ?? '');
    const reply = repliesOf(program, name).find(isFor)?.reply;
    if (reply === undefined) throw new Error(`${name} has no canned reply for ${declared.name}`);
    const text = typeof reply === 'string' ? reply : JSON.stringify(reply);
    return { title: `${name}::${declared.name}`, input: textsIn(args.value).join('\n'), reply: text };
  });
}

test.each(SAMPLES)('the canned replies of %s state what the text of its tests contains', (sample) => {
  const definitions = compiled(sample);
  const names = namesIn(definitions.program);
  const own = OWN_WORDS[sample] ?? [];
  const calls = callsOf(definitions);
  const stated = calls.flatMap(({ reply, ...call }) => statementsIn(reply).map((statement) => ({ ...call, statement })));
  const invented = stated.filter(({ input, statement }) => {
    return !own.includes(statement.key) && !names.has(statement.text.toLowerCase()) && !contains(input, statement);
  });
  expect(invented.map(({ title, statement }) => `${title}: ${statement.key} "${statement.text}"`)).toEqual([]);
  const used = new Set(stated.map(({ statement }) => statement.key));
  expect(own.filter((key) => !used.has(key))).toEqual([]);
  expect(calls.length).toBeGreaterThan(0);
});

test('the answers in the documentation state what the commands before them send', () => {
  const pages = ['README.md', 'docs/tutorial.md', ...filesIn('docs/callers', '.md')];
  const invented: string[] = [];
  let answers = 0;
  for (const page of pages) {
    for (const { code, output = '' } of blocksOf(readFileSync(join(ROOT, page), 'utf8'))) {
      const [, body] = /-d '(\{.*?\})'/su.exec(code) ?? [];
      if (body === undefined || !output.includes('{') || output.includes('"error"')) continue;
      answers += 1;
      for (const statement of statementsIn(output)) {
        if (!OWN_WORDS_OF_PAGES.has(statement.key) && !contains(body, statement)) invented.push(`${page}: ${JSON.stringify(statement.text)}`);
      }
    }
  }
  expect(invented).toEqual([]);
  expect(answers).toBeGreaterThan(8);
});

test('statements are found in damaged JSON, and months are compared in words', () => {
  const reply = 'Here: {"a": "x", // note\n "b": ["y", "z \\"q\\""], c: 1, "start": "1842-05"';
  const found = statementsIn(reply);
  expect(found.map(({ key, text }) => `${key}=${text}`)).toEqual(['a=x', 'b=y', 'b=z \\"q\\"', 'start=1842-05']);
  expect(contains('from May 1842 on', { key: 'start', text: '1842-05' })).toBe(true);
  expect(contains('from 1842 on', { key: 'start', text: '1842-05' })).toBe(false);
});
