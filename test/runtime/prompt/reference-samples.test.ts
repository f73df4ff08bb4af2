import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Message } from '../../../src/schema/message.ts';
import { CLIENT, readSample, rendererOf } from './sample-program.ts';

// Each folder has definitions and cases. A case is `=== (parameters) -> type`, its arguments as JSON, its prompt, `---`,
// then one line per message as BAML sends it: the role and the texts.
const FOLDERS = readdirSync(new URL('samples/reference', import.meta.url));

interface Case {
  readonly signature: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly prompt: string;
  readonly expected: string;
}

function readCase(text: string): Case {
  const [head = '', expected = ''] = text.split('\n---\n');
  const [signature = '', args = '', ...prompt] = head.split('\n');
  return { signature, args: JSON.parse(args), prompt: prompt.join('\n'), expected: expected.trim() };
}

function show({ role, parts }: Message): string {
  return [role, ...parts.map((part) => (part.kind === 'text' ? JSON.stringify(part.text) : part.media))].join(' ');
}

test('there are enough samples', () => {
  expect(FOLDERS.length).toBeGreaterThan(1);
});

describe.each(FOLDERS)('%s', (folder) => {
  const cases = readSample(`reference/${folder}/cases.txt`)
    .split(/^=== /mu)
    .slice(1)
    .map(readCase)
    .map((sample, index) => ({ ...sample, name: `F${index}` }));
  const functions = cases.map(
    ({ name, signature, prompt }) => `function ${name}${signature} {\n  client M\n  prompt ##"${prompt}"##\n}`,
  );
  const client = 'client<llm> M {\n  provider openai\n  options {\n    model m1\n  }\n}';
  const source = [readSample(`reference/${folder}/definitions.baml`), client, ...functions].join('\n\n');
  const renderer = rendererOf(source);

  test.each(cases)('$name $signature $prompt', ({ name, args, expected }) => {
    const result = renderer.render(name, args, CLIENT);
    expect(result.ok ? result.value.map(show).join('\n') : result.failure.message).toBe(expected);
  });
});
