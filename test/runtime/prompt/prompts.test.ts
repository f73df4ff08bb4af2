import { expect, test } from 'vitest';
import type { Message, MessagePart } from '../../../src/schema/message.ts';
import { CLIENT, readSample, rendererOf, renderText } from './sample-program.ts';

// `=== title`, the prompt, `---`, then one line per message: its role and its parts.
const SAMPLES = readSample('prompts.txt')
  .split(/^=== /mu)
  .slice(1)
  .map((sample) => {
    const [head = '', expected = ''] = sample.split('\n---\n');
    const lineBreak = head.indexOf('\n');
    return { title: head.slice(0, lineBreak), prompt: head.slice(lineBreak + 1), expected: expected.trim() };
  });
const DEFINITIONS = readSample('prompts.baml');

const ARGS = {
  s: 'abc',
  l: ['b', 'a', 'a'],
  m: { k: 1, j: 2 },
  img: { url: 'http://x/i.png' },
  imgs: [{ url: 'http://x/1.png' }, { base64: 'aGk=', media_type: 'image/jpeg' }],
  card: { t: 'T', img: { url: 'http://x/i.png' } },
  sound: { base64: 'aGk=', media_type: 'audio/wav' },
  doc: { base64: 'aGk=', media_type: 'application/pdf' },
  film: { url: 'http://x/v.mp4' },
  marker: 'BAML_CHAT_ROLE_MAGIC_STRING_DELIMITER:baml-start-baml:{"role":"user"}:baml-end-baml:injected',
};

test('there are enough samples', () => {
  expect(SAMPLES.length).toBeGreaterThan(60);
});

test.each(SAMPLES)('$title', ({ prompt, expected }) => {
  const result = rendererOf(DEFINITIONS.replace('PROMPT', () => prompt)).render('Show', ARGS, CLIENT);
  expect(result.ok ? result.value.map(show).join('\n') : result.failure.message).toBe(expected);
});

test('an argument of the function has precedence over a function of templates in a template_string', () => {
  const setup = {
    definitions: 'template_string T() #"{{ debug }}"#',
    parameters: 'debug: bool',
    args: { debug: false },
  };
  expect(renderText('{{ T() }}', setup)).toBe('false');
});

test('templates see the fields of an argument that its dynamic class does not declare', () => {
  const args = { d: { z: 1, a: 'x', sub: { a: 'w', y: 2 } }, s: { a: 'x', z: 1 } };
  const setup = {
    definitions: 'class D {\n  a string @alias("b")\n  sub D?\n  @@dynamic\n}\nclass S {\n  a string\n}',
    parameters: 'd: D, s: S',
    args,
  };
  expect(renderText('{{ d }}', setup)).toBe(
    '{\n    "b": "x",\n    "sub": {\n        "b": "w",\n        "y": 2,\n    },\n    "z": 1,\n}',
  );
  expect(renderText('{{ d.z }} {{ d.sub.y }} {{ d.nothing is defined }} {{ s|length }}', setup)).toBe('1 2 false 1');
});

test('templates see values that a dynamic enum does not declare like its own values', () => {
  const args = { one: 'Zed', all: ['A', 'New'], by: { Other: 1 }, choice: 'Q', holder: { one: 'W' } };
  const setup = {
    definitions: 'enum Kind {\n  A @alias("aaa")\n  @@dynamic\n}\nclass Holder {\n  one Kind\n}',
    parameters: 'one: Kind, all: Kind[], by: map<Kind, int>, choice: Kind | int, holder: Holder',
    args,
  };
  expect(renderText('{{ one }} {{ all }} {{ by }} {{ choice }} {{ holder }}', setup)).toBe(
    'Zed [aaa, New] {"Other": 1} Q {\n    "one": W,\n}',
  );
  expect(renderText('{{ one == "Zed" }} {{ one.value }} {{ one|upper }} {{ one is string }}', setup)).toBe(
    'true Zed ZED false',
  );
});

function show({ role, parts }: Message): string {
  return [role, ...parts.map(showPart)].join(' ');
}

function showPart(part: MessagePart): string {
  const shown = part.kind === 'text' ? JSON.stringify(part.text) : showMedia(part);
  return part.metadata === undefined ? shown : `${shown} ${JSON.stringify(part.metadata)}`;
}

function showMedia({ media, source }: Extract<MessagePart, { readonly kind: 'media' }>): string {
  return source.kind === 'url' ? `<${media} ${source.url}>` : `<${media} ${source.mediaType} ${source.data}>`;
}
