import { expect, test } from 'vitest';
import { silentLogger } from '../../../src/logging/logger.ts';
import { createRuntime } from '../../../src/runtime/call/create-runtime.ts';
import { takesMedia } from '../../../src/schema/type-graph.ts';
import { indexDefinitions } from '../../../src/schema/program.ts';
import { compileText } from '../../support/test-runtime.ts';
import { validatorSource } from '../../support/validators.ts';

const program = compileText(`
client<llm> Local {
  provider offline
}
class Page {
  text string
  scan image?
}
class Tree {
  name string
  children Tree[]
}
class Book {
  pages Page[]
  next Book?
}
${functionOf('Texts', 'texts: map<string, string[]>')}
${functionOf('Trees', 'tree: Tree')}
${functionOf('Direct', 'scan: image')}
${functionOf('Listed', 'text: string, scans: map<string, audio[]>')}
${functionOf('Deep', 'book: Book | string')}
`);
const index = indexDefinitions(program);

function functionOf(name: string, parameters: string): string {
  return `function ${name}(${parameters}) -> string {\n  client Local\n  prompt #"hello"#\n}\n`;
}

test.each([
  ['Texts', false],
  ['Trees', false],
  ['Direct', true],
  ['Listed', true],
  ['Deep', true],
])('%s takes media: %s', (name, takes) => {
  const fn = index.functions.get(name);
  expect(fn !== undefined && takesMedia(fn, index)).toBe(takes);
});

test('svc reads the origin of a call only to decide which media it can fetch', () => {
  const runtime = createRuntime(program, {
    logger: silentLogger,
    env: {},
    clientRegistry: 'open',
    allowPrivateUrls: false,
    exposePrompts: false,
    onLoss: 'accept',
    parseElsewhereAbove: Infinity,
    validatorSource: validatorSource(program),
  });
  const scan = { url: 'http://127.0.0.1/scan.png' };
  const privateUrls = (local: boolean) => runtime.prepare('Direct', { scan }, { local });
  expect(privateUrls(true)).toMatchObject({ ok: true, value: { requester: { privateUrls: true } } });
  expect(privateUrls(false)).toMatchObject({ ok: true, value: { requester: { privateUrls: false } } });
  let asked = 0;
  const origin = {
    get local() {
      asked += 1;
      return true;
    },
  };
  expect(runtime.prepare('Texts', { texts: {} }, origin).ok).toBe(true);
  expect(asked).toBe(0);
});
