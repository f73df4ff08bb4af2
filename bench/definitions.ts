import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ANSWER_NAMES } from './answers.ts';

/** Functions that the definitions declare: one for each answer, and `…Paced`, whose deltas arrive one per millisecond. */
export type FunctionName = 'Small' | 'SmallPaced' | 'Large' | 'LargePaced' | 'Larger' | 'Megabyte' | 'Broken';

/**
 * Writes the definitions that every side serves into `<directory>/baml_src` (the only name that all sides accept)
 * and returns that path. `files` pads them with further definition files up to that number.
 */
export function writeDefinitions(directory: string, provider: string, files = 1): string {
  const folder = join(directory, 'baml_src');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'main.baml'), mainFile(provider));
  for (let index = 1; index < files; index += 1) {
    writeFileSync(join(folder, `part-${index}.baml`), partFile(index));
  }
  return folder;
}

function mainFile(provider: string): string {
  const burst = ANSWER_NAMES.map((name) => client(`${name}Model`, `${provider}/${name}/burst/v1`));
  const paced = (['Small', 'Large'] as const).map((name) =>
    client(`${name}PacedModel`, `${provider}/${name}/paced/v1`),
  );
  const functions = [
    declareFunction('Small', 'Contact'),
    declareFunction('SmallPaced', 'Contact'),
    ...(['Large', 'LargePaced', 'Larger', 'Megabyte'] as const).map((name) => declareFunction(name, 'Points')),
    declareFunction('Broken', 'Count'),
  ];
  return [CLASSES, ...burst, ...paced, ...functions].join('\n');
}

const CLASSES = `class Contact {
  name string
  email string
  topic string
  urgent bool
  summary string @description("one sentence")
}

class Points {
  pros string[]
  cons string[]
}

class Count {
  points int
}
`;

function client(name: string, baseUrl: string): string {
  return `client<llm> ${name} {
  provider openai-generic
  options {
    base_url "${baseUrl}"
    api_key "bench"
    model "bench-model"
  }
}
`;
}

function declareFunction(name: FunctionName, returns: string): string {
  return `function ${name}(text: string) -> ${returns} {
  client ${name}Model
  prompt #"
    {{ _.role("system") }}
    Read the message and answer with what it says.
    {{ ctx.output_format }}

    {{ _.role("user") }}
    {{ text }}
  "#
}
`;
}

function partFile(index: number): string {
  return `enum Priority${index} {
  LOW
  NORMAL @description("the default")
  HIGH
}

class Ticket${index} {
  title string
  priority Priority${index} @description("how soon")
  tags string[]
  parent Ticket${index}?
}

function Classify${index}(text: string, limit: int?) -> Ticket${index} {
  client SmallModel
  prompt #"
    Classify this message{% if limit %} in at most {{ limit }} words{% endif %}:
    {{ text }}
    {{ ctx.output_format }}
  "#
}
`;
}
