import { expect, test } from 'vitest';
import { renderPrompt, renderText } from './sample-program.ts';

// A value of a union has the type of the first member that accepts it, as in the check of the request.

const DEFINITIONS = `
class Picture {
  img image
  title string @alias("name")
}

class Link {
  url string
  title string
}

class Sum {
  left Term?
  right int
  op "a"
}

class Power {
  left Term? @alias("base")
  right int
  op "z"
}

${['B', 'C', 'D', 'E'].map((name) => `class ${name} {\n  left Term?\n  right int\n  op "${name}"\n}`).join('\n')}

type Term = Sum | B | C | D | E | Power
`;

const PICTURE = { img: { url: 'http://x/i.png' }, title: 'T', extra: 1 };

test.each([
  ['Picture', PICTURE],
  ['Picture?', PICTURE],
  ['Link | Picture', PICTURE],
  ['Picture | string', PICTURE],
])('%s of a value with a key that no field has', (type, value) => {
  const setup = { definitions: DEFINITIONS, parameters: `v: ${type}`, args: { v: value } };
  expect(renderPrompt('{{ v.img }}', setup)).toEqual([
    {
      role: 'system',
      parts: [{ kind: 'media', media: 'image', source: { kind: 'url', url: 'http://x/i.png' } }],
    },
  ]);
  expect(renderText('{% for k in v %}{{ k }} {% endfor %}{{ v.title }}', setup)).toBe('img title T');
});

test('a value with keys that no media value has is not media', () => {
  const args = { v: { url: 'http://x', title: 'T' } };
  const setup = { definitions: DEFINITIONS, parameters: 'v: image | Link', args };
  expect(renderText('{{ v.title }}: {{ v.url }}', setup)).toBe('T: http://x');
});

test('each member that leads back to the union is tried once for each value', () => {
  const depth = 60;
  let v: object | null = null;
  for (let level = 0; level < depth; level += 1) v = { left: v, right: level, op: 'z' };
  const text = renderText('{{ v }}', { definitions: DEFINITIONS, parameters: 'v: Term', args: { v } });
  expect(text.split('"base"').length - 1).toBe(depth);
});

test('a value that changes between calls can match another member', () => {
  const v: Record<string, unknown> = { left: null, right: 1, op: 'a' };
  const setup = { definitions: DEFINITIONS, parameters: 'v: Term', args: { v } };
  expect(renderText('{{ v }}', setup)).toContain('"left"');
  v['op'] = 'z';
  expect(renderText('{{ v }}', setup)).toContain('"base"');
});
