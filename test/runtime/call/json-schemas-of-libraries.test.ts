import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { compile } from '../../../src/compiler/compile.ts';
import { createTypeSource } from '../../../src/compiler/compile-types.ts';
import { SourceFile } from '../../../src/diagnostics/source-file.ts';
import { silentLogger } from '../../../src/logging/logger.ts';
import { createRuntime } from '../../../src/runtime/call/create-runtime.ts';
import { callContext } from '../../support/test-runtime.ts';
import { validatorSource } from '../../support/validators.ts';

const FOLDER = new URL('json-schemas/', import.meta.url);

/** Schemas in the form that a library writes, a reply that fits, and changes to it that violate a bound. */
interface Fixture {
  readonly json_schema: object;
  readonly prompt: readonly string[];
  readonly fits: Readonly<Record<string, unknown>>;
  readonly violations: ReadonlyArray<{ readonly with: object; readonly message: string }>;
}

const FILE = new SourceFile(
  'main.svc',
  `
class Record {
  @@dynamic
}
client<llm> Off {
  provider offline
}
function Read(text: string) -> Record {
  client Off
  prompt #"{{ text }} {{ ctx.output_format }}"#
}
`,
);

const { program, diagnostics } = compile([FILE], { version: '0', versionCheck: false, beta: true, apiKey: false });
if (program === undefined) throw new Error(JSON.stringify(diagnostics));
const runtime = createRuntime(program, {
  logger: silentLogger,
  env: {},
  clientRegistry: 'open',
  allowPrivateUrls: false,
  exposePrompts: false,
  onLoss: 'accept',
  parseElsewhereAbove: Infinity,
  validatorSource: validatorSource(program),
  typeSource: createTypeSource(program, [FILE]),
});

function bodyOf({ json_schema }: Fixture, text: string): object {
  return { text, svc_options: { type_builder: { json_schema } } };
}

async function parsed(fixture: Fixture, reply: object): Promise<unknown> {
  const body = bodyOf(fixture, JSON.stringify(reply));
  const prepared = runtime.prepareReply('Read', body, await runtime.load('Read', body));
  if (!prepared.ok) throw new Error(JSON.stringify(prepared.failure));
  const outcome = await runtime.parseReply(prepared.value, callContext());
  return outcome.ok ? outcome.value.value : outcome.failure;
}

async function promptOf(fixture: Fixture): Promise<string> {
  const body = bodyOf(fixture, 'x');
  const prepared = runtime.prepare('Read', body, undefined, await runtime.load('Read', body));
  if (!prepared.ok) throw new Error(JSON.stringify(prepared.failure));
  const messages = runtime.render(prepared.value);
  if (!messages.ok) throw new Error(messages.failure.message);
  return messages.value.map(({ parts }) => JSON.stringify(parts)).join('\n');
}

const names = readdirSync(FOLDER);

test('there are schemas of each kind', () => {
  expect(names).toEqual(['openapi-3.0.json', 'openapi-3.1.json', 'pydantic.json', 'typebox.json', 'zod.json']);
});

test.each(names)('%s: a reply that fits has its value, and one beyond a bound fails', async (name) => {
  const fixture = JSON.parse(readFileSync(join(FOLDER.pathname, name), 'utf8')) as Fixture;
  const prompt = await promptOf(fixture);
  for (const part of fixture.prompt) expect(prompt).toContain(JSON.stringify(part).slice(1, -1));
  expect(await parsed(fixture, fixture.fits)).toEqual(fixture.fits);
  for (const { with: change, message } of fixture.violations) {
    const failure = await parsed(fixture, { ...fixture.fits, ...change });
    expect(failure, JSON.stringify(change)).toMatchObject({ code: 'validation_failure' });
    expect(JSON.stringify(failure), JSON.stringify(change)).toContain(message);
  }
});
