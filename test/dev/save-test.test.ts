import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { compile } from '../../src/compiler/compile.ts';
import { Recordings } from '../../src/dev/testing/recordings.ts';
import { saveTest } from '../../src/dev/testing/save-test.ts';
import { SourceFile } from '../../src/diagnostics/source-file.ts';
import type { CallContent, KeptCall } from '../../src/schema/kept-call.ts';
import { temporaryFolder } from '../support/running-server.ts';

const SOURCE = `client<llm> C {
  provider openai
  options {
    model "m"
    api_key "k"
  }
}
class Item {
  name string
  tags string[]
  size float?
}
function Read(item: Item, note: string?) -> Item {
  client C
  prompt #"{{ item }} {{ note }}"#
}
`;

function keptCall(content: CallContent, more: Partial<KeptCall> = {}): KeptCall {
  return {
    seq: 1,
    requestId: 'r',
    at: 0,
    functionName: 'Read',
    route: 'call',
    program: 'p',
    key: null,
    status: 200,
    error: null,
    lossy: false,
    cache: null,
    client: 'C',
    model: 'm',
    attempts: 1,
    ms: 1,
    modelMs: 1,
    firstTextMs: null,
    inputTokens: null,
    outputTokens: null,
    cost: null,
    tags: null,
    score: null,
    label: null,
    feedback: [],
    content,
    ...more,
  };
}

function save(call: KeptCall, name = 'saved') {
  const folder = temporaryFolder({});
  const files = [new SourceFile(join(folder, 'a.svc'), SOURCE)];
  const plan = {
    files,
    compile: (sources: readonly SourceFile[]) =>
      compile(sources, {
        version: '1',
        apiKey: false,
        limits: false,
        basePath: '',
        title: 't',
        doors: [],
        examples: false,
      } as never),
    recordings: new Recordings(join(folder, 'recordings'), (text) => text),
  };
  return { folder, saved: saveTest(call, name, plan) };
}

const ITEM = { name: 'a "b"\n\\n\tc', tags: ['x', '{{ y }}', '#"z"#'], size: -1.5 };

test('writes arguments that read back as they were sent', () => {
  const { folder, saved } = save(keptCall({ args: { item: ITEM, note: null, svc_options: { tags: {} } } }));
  expect(saved.ok ? saved.value.recording : saved.failure).toBeNull();
  const text = readFileSync(join(folder, 'saved_tests.svc'), 'utf8');
  expect(text).toContain('functions [Read]');
  expect(text).not.toContain('svc_options');
});

test('asserts the right value, member by member', () => {
  const feedback = [
    {
      at: 0,
      key: null,
      score: null,
      label: null,
      comment: null,
      value: { name: 'it\'s "x"', tags: ['a'], size: null },
    },
  ];
  const { saved } = save(keptCall({ args: { item: ITEM } }, { feedback }));
  expect(saved.ok ? saved.value.test : saved.failure).toContain(
    [
      '  @@assert({{ this.name == "it\'s \\"x\\"" }})',
      '  @@assert({{ this.tags|length == 1 }})',
      '  @@assert({{ this.tags[0] == "a" }})',
      '  @@assert({{ this.size is none }})',
    ].join('\n'),
  );
});

test('keeps the reply for a replay, except for a prompt with files', () => {
  const prompt = [{ role: 'user', parts: [{ kind: 'text', text: 'hi' }] }];
  const { saved } = save(keptCall({ args: { item: ITEM }, prompt, reply: '{}' }));
  expect(saved.ok && existsSync(saved.value.recording ?? '')).toBe(true);
  const media = [{ role: 'user', parts: [{ kind: 'media', media: 'image', source: { kind: 'base64', data: '' } }] }];
  const { saved: other } = save(keptCall({ args: { item: ITEM }, prompt: media, reply: '{}' }));
  expect(other.ok ? other.value.recording : other.failure).toBeNull();
});

test.each([
  ['a call without arguments', keptCall({}), /not kept/u],
  ['an unknown function', keptCall({ args: {} }, { functionName: 'Gone' }), /no function "Gone"/u],
  ['a call without an argument that is needed', keptCall({ args: { note: 'x' } }), /cannot be written/u],
])('%s is refused', (_what, call, reason) => {
  const { folder, saved } = save(call);
  expect(saved.ok ? '' : saved.failure).toMatch(reason);
  expect(existsSync(join(folder, 'saved_tests.svc'))).toBe(false);
});
