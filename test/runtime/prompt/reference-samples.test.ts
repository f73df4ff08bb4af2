import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Message } from '../../../src/schema/message.ts';
import { CLIENT, readSample, rendererOf } from './sample-program.ts';

// Each folder has definitions and cases. A case is `=== (parameters) -> type`, its arguments as JSON, its prompt, `---`,
// then one line per message as BAML sends it: the role and the texts. `===` alone repeats parameters and arguments.
const FOLDERS = readdirSync(new URL('samples/reference', import.meta.url));

interface Case {
  readonly signature: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly prompt: string;
  readonly expected: string;
}

function readCases(text: string): readonly Case[] {
  const cases: Case[] = [];
  for (const part of text.split(/^===/mu).slice(1)) {
    const [head = '', expected = ''] = part.split('\n---\n');
    const [signature = '', ...lines] = head.split('\n');
    const before = signature === '' ? cases.at(-1) : undefined;
    const { args } = before ?? { args: JSON.parse(lines.shift() ?? '') as Case['args'] };
    const prompt = lines.join('\n');
    cases.push({ signature: before?.signature ?? signature, args, prompt, expected: expected.trim() });
  }
  return cases;
}

function show({ role, parts }: Message): string {
  return [role, ...parts.map((part) => (part.kind === 'text' ? JSON.stringify(part.text) : part.media))].join(' ');
}

test('there are enough samples', () => {
  expect(FOLDERS.length).toBeGreaterThan(1);
});

describe.each(FOLDERS)('%s', (folder) => {
  const samples = readCases(readSample(`reference/${folder}/cases.txt`));
  const cases = samples.map((sample, index) => ({ ...sample, name: `F${index}` }));
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
