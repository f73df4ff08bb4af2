import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ANSWER_NAMES, STAMPED_MS, type StampedName } from './answers.ts';

/**
 * Functions that the definitions declare: one for each answer, `…Paced`, whose deltas arrive one per millisecond, and two whose deltas
 * arrive each in an HTTP chunk or a DATA frame of its own.
 */
export type FunctionName =
  | 'Small'
  | 'SmallPaced'
  | 'Large'
  | 'LargePaced'
  | 'LargeChunks'
  | 'LargeFrames'
  | 'Larger'
  | 'Megabyte'
  | 'Rendered'
  | StampedName;

/**
 * Writes the definitions that every side serves into `<directory>/baml_src` (the only name that all sides accept)
 * and returns that path. `files` pads them with further definition files up to that number.
 */
export function writeDefinitions(directory: string, provider: string, files = 1): string {
  const folder = writeDefinitionFile(directory, mainFile(provider));
  for (let index = 1; index < files; index += 1) {
    writeFileSync(join(folder, `part-${index}.baml`), partFile(index));
  }
  return folder;
}

/** Writes a definition file into `<directory>/baml_src` and returns that path. */
export function writeDefinitionFile(directory: string, text: string): string {
  const folder = join(directory, 'baml_src');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'main.baml'), text);
  return folder;
}

function mainFile(provider: string): string {
  const stamped = Object.keys(STAMPED_MS);
  const burst = [...ANSWER_NAMES, ...stamped].map((name) =>
    declareClient(`${name}Model`, `${provider}/${name}/burst/v1`),
  );
  const paced = (['Small', 'Large'] as const).map((name) =>
    declareClient(`${name}PacedModel`, `${provider}/${name}/paced/v1`),
  );
  const functions = [
    declareFunction('Small', 'Contact'),
    declareFunction('SmallPaced', 'Contact'),
    ...stamped.map((name) => declareFunction(name, 'Contact')),
    declareClient('LargeChunksModel', `${provider}/Large/single/v1`),
    declareClient('LargeFramesModel', `${provider.replace('http:', 'https:')}/Large/single/v1`),
    ...(['Large', 'LargePaced', 'LargeChunks', 'LargeFrames', 'Larger', 'Megabyte'] as const).map((name) =>
      declareFunction(name, 'Points'),
    ),
    RENDERED,
  ];
  return [CONTACT_CLASS, POINTS_CLASS, ...burst, ...paced, ...functions].join('\n');
}

/** The type of the small answer. */
export const CONTACT_CLASS = `class Contact {
  name string
  email string
  topic string
  urgent bool
  summary string @description("one sentence")
}
`;

const POINTS_CLASS = `class Points {
  pros string[]
  cons string[]
}
`;

/** A short prompt that takes a worker milliseconds to render, in little memory: two processes that fill memory slow each other down. */
const RENDERED = `function Rendered(text: string) -> Contact {
  client SmallModel
  prompt #"
    {% for row in range(500) %}
      {%- for column in range(300) -%}
        {%- if row or column %}{% if row and column %}{% endif %}{% if column and row %}{% endif %}{% else %}{{ text }}{% endif -%}
      {%- endfor -%}
    {% endfor %}
    {{ ctx.output_format }}
  "#
}
`;

/** A client of a model server at this address. */
export function declareClient(name: string, baseUrl: string): string {
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

/** A function with the prompt of the small and large answers, whose client is `<name>Model`. */
export function declareFunction(name: string, returns: string): string {
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
