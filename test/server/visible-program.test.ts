import { expect, test } from 'vitest';
import { compile } from '../../src/compiler/compile.ts';
import { SourceFile } from '../../src/diagnostics/source-file.ts';
import { Caller } from '../../src/server/http/auth.ts';
import { jsonDocument } from '../../src/server/http/static-asset.ts';
import { describeProgram } from '../../src/server/http/playground/playground.ts';
import { VisibleDocuments, visibleOpenApi, visiblePlayground } from '../../src/server/http/visible-program.ts';

const TEXT = `
class Shared {
  note string
}
class Visible {
  shared Shared
  next Visible?
}
class Hidden {
  shared Shared
  kind Kind
}
enum Kind {
  SecretKind
}
client<llm> Fast {
  provider offline
}
function Show(text: string) -> Visible {
  client Fast
  prompt #"{{ text }} {{ ctx.output_format }}"#
}
function Conceal(text: string) -> Hidden {
  client Fast
  prompt #"{{ text }} {{ ctx.output_format }}"#
}
test ConcealedCase {
  functions [Conceal]
  args { text "secret text" }
}
`;

const OPTIONS = { version: '1.0.0', versionCheck: false, beta: true, apiKey: true, examples: true };
const { program } = compile([new SourceFile('main.svc', TEXT)], OPTIONS);
if (program === undefined) throw new Error('the definitions have errors');

const CALLER = new Caller({ name: 'a', functions: ['Show'] });

test('the document of a caller contains its functions and their types, and no other name', () => {
  const text = JSON.stringify(visibleOpenApi(program.openapi, CALLER));
  for (const name of ['/call/Show', '/stream/Show', '/render/Show', '"Visible"', '"Shared"', '/livez']) {
    expect(text).toContain(name);
  }
  for (const name of ['Conceal', 'Hidden', 'SecretKind', 'secret text']) expect(text).not.toContain(name);
});

test('every reference in it leads somewhere', () => {
  const document = JSON.parse(JSON.stringify(visibleOpenApi(program.openapi, CALLER))) as object;
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/gu)].map(([, path = '']) => path);
  expect(references.length).toBeGreaterThan(10);
  for (const path of references) {
    const found = path.split('/').reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], document);
    expect([path, typeof found]).toEqual([path, 'object']);
  }
});

test('the document of the playground contains its functions and their types only', () => {
  const facts = {
    title: 'svc',
    version: '1.0.0',
    clientRegistry: 'open',
    doors: [],
    missing: new Map<string, string>(),
    calls: { off: 'This server keeps no calls.' },
  } as const;
  const off = new Caller({ name: 'a', functions: ['Show'], clientRegistry: 'off' });
  const document = visiblePlayground({ ...describeProgram(program, facts) }, off);
  const text = JSON.stringify(document);
  expect(document['clientRegistry']).toBe('off');
  for (const name of ['"Show"', '"Visible"', '"Shared"', '"Fast"']) expect(text).toContain(name);
  for (const name of ['Conceal', 'Hidden', 'SecretKind']) expect(text).not.toContain(name);
});

test('callers with the same functions share a document, and others get the whole one', () => {
  const whole = jsonDocument(program.openapi);
  const documents = new VisibleDocuments(whole, visibleOpenApi);
  expect(documents.of(undefined)).toBe(whole);
  expect(documents.of(new Caller({ name: 'all' }))).toBe(whole);
  const own = documents.of(CALLER);
  expect(own.tag).not.toBe(whole.tag);
  expect(documents.of(new Caller({ name: 'b', functions: ['Show'] }))).toBe(own);
});
