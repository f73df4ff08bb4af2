import { compile } from '../../src/compiler/compile.ts';
import type { Diagnostic } from '../../src/diagnostics/diagnostic.ts';
import { SourceFile } from '../../src/diagnostics/source-file.ts';
import { createPromptRenderer } from '../../src/runtime/prompt/create-prompt-renderer.ts';
import type { OptionEntry, OptionValue } from '../../src/schema/client.ts';
import type { Message, MessagePart } from '../../src/schema/message.ts';
import type { Program } from '../../src/schema/program.ts';
import { CLIENT } from '../runtime/prompt/sample-program.ts';
import { parserOf, partialsOf } from '../runtime/reply/parser-of.ts';
import { fitsOf } from '../support/validators.ts';

/*
 * The fences of docs/language.md, by the first word after the backticks:
 *
 * - `baml`: definitions. All of them together are one program.
 * - `wrong`: definitions, then `=> ` with the error that they cause.
 * - `output`: `-> ` with a type and options of `ctx.output_format`, then its description.
 * - `prompt`: the name of a function and its arguments as JSON, then the messages.
 * - `template`: a template, `---`, then the text. The arguments are those of the `json arguments` fence.
 * - `expressions`: lines with an expression of a template, ` → ` and the text, with `⏎` for line breaks.
 * - `descriptions`: the same with a type and its description.
 * - `options`: the name of a client, then its options as JSON.
 * - `reply`: `-> ` with a type, a reply, then `=> ` with the value as JSON text, or `refused: ` with the reason.
 * - `stream`: the same, with `¦` after each part that arrives, and `=> ` with each partial value.
 */

export interface Example {
  readonly kind: string;
  /** The text before the outcome. For a kind with an outcome on each line, the text without the outcomes. */
  readonly input: string;
  /** The outcome on the page. */
  readonly shown: string;
}

const FENCE = /^```(baml|wrong|output|prompt|template|expressions|descriptions|options|reply|stream)\n([^]*?)\n```$/gmu;
/** The beginning of the outcome in an example of each kind. */
const OUTCOME: Readonly<Record<string, RegExp>> = {
  wrong: /^=> /mu,
  output: /(?<=^-> .*\n)/u,
  prompt: /(?<=^.*\n)/u,
  options: /(?<=^.*\n)/u,
  template: /(?<=\n---\n|^---\n)/u,
  reply: /^=> /mu,
  stream: /^=> /mu,
};

/** The examples of a page, in order. */
export function examplesIn(page: string): readonly Example[] {
  return [...page.matchAll(FENCE)].map(([, kind = '', text = '']) => exampleIn(kind, text));
}

function exampleIn(kind: string, text: string): Example {
  if (isTable(kind)) return { kind, input: text.replaceAll(/ → .*$/gmu, ''), shown: text };
  const at = OUTCOME[kind] === undefined ? -1 : text.search(OUTCOME[kind]);
  return at < 0 ? { kind, input: text, shown: '' } : { kind, input: text.slice(0, at), shown: text.slice(at) };
}

/** Each line contains an input and its outcome. */
function isTable(kind: string): boolean {
  return kind === 'expressions' || kind === 'descriptions';
}

/** Replaces the outcome of each example by the actual one. */
export function rewritten(page: string, run: (example: Example) => string): string {
  return page.replaceAll(FENCE, (fence, kind: string, text: string) => {
    if (kind === 'baml') return fence;
    const example = exampleIn(kind, text);
    return `\`\`\`${kind}\n${isTable(kind) ? '' : example.input}${run(example)}\n\`\`\``;
  });
}

/** Returns the warnings and errors of definitions, and the program if there are no errors. */
export function compiled(source: string): { diagnostics: readonly Diagnostic[]; program: Program | undefined } {
  const options = { version: '0.1.0', versionCheck: false, beta: false, apiKey: false };
  const { diagnostics, program } = compile([new SourceFile('page.svc', source)], options);
  return { diagnostics, program };
}

/** Runs the examples of one page. */
export class ExampleRunner {
  readonly #definitions: string;
  readonly #parameters: string;
  readonly #args: Readonly<Record<string, unknown>>;

  constructor(page: string) {
    this.#definitions = examplesIn(page)
      .filter(({ kind }) => kind === 'baml')
      .map(({ input }) => input)
      .join('\n\n');
    const [, parameters = ''] = /^function Letter\(([^]*?)\) ->/mu.exec(this.#definitions) ?? [];
    this.#parameters = parameters;
    const [, args = '{}'] = /^```json arguments\n([^]*?)\n```$/mu.exec(page) ?? [];
    this.#args = JSON.parse(args) as Record<string, unknown>;
  }

  get definitions(): string {
    return this.#definitions;
  }

  /** Returns the outcome of an example, in the form of the page. */
  run({ kind, input }: Example): string {
    switch (kind) {
      case 'wrong':
        return this.#problemOf(input);
      case 'output': {
        const [, type = '', options = ''] = /^-> (.+?)(?: (\([a-z_]+=.*\)))?\n$/u.exec(input) ?? [];
        return this.#textOf(`{{ ctx.output_format${options} }}`, type);
      }
      case 'prompt': {
        const [, name = '', args = ''] = /^(\w+) (.*)\n$/u.exec(input) ?? [];
        return this.#messagesOf(this.#definitions, name, JSON.parse(args) as Record<string, unknown>);
      }
      case 'template':
        return this.#textOf(`\n{{ _.role("system") }}\n${input.replace(/\n?---\n$/u, '')}\n`);
      case 'expressions': {
        const lines = input.split('\n');
        const texts = this.#textOf(lines.map((line) => `{{ ${line} }}`).join('¦')).split('¦');
        return lines.map((line, index) => tableLine(line, texts[index] ?? '')).join('\n');
      }
      case 'descriptions':
        return input
          .split('\n')
          .map((type) => tableLine(type, this.#textOf('{{ ctx.output_format }}', type)))
          .join('\n');
      case 'options':
        return this.#optionsOf(input.trim());
      case 'reply':
        return this.#valueOf(input);
      default:
        return this.#partialsOf(input);
    }
  }

  #problemOf(source: string): string {
    const found = compiled(`${this.#definitions}\n${source}`).diagnostics;
    return found.map(({ severity, code, message }) => `=> ${severity} ${code}: ${message}`).join('\n');
  }

  /** Renders a template with the arguments of the page. */
  #textOf(template: string, returns = 'string'): string {
    const source = `${this.#definitions}
function Shown(${this.#parameters}) -> ${returns} {
  client Fast
  prompt ####"${template}"####
}
`;
    return this.#messagesOf(source, 'Shown', this.#args).replace(/^\[system\]\n/u, '');
  }

  #messagesOf(source: string, name: string, args: Readonly<Record<string, unknown>>): string {
    const { program, diagnostics } = compiled(source);
    // An example needs only some of the parameters.
    const first = diagnostics.find(({ code }) => code !== 'template/unused-parameter');
    if (program === undefined || first !== undefined) return `${first?.code}: ${first?.message}`;
    const client = { ...CLIENT, name: 'Fast', options: { model: 'gpt-4o-mini' } };
    const result = createPromptRenderer(program, fitsOf(program)).render(name, args, client);
    return result.ok ? result.value.map(messageText).join('\n\n') : `failure: ${result.failure.message}`;
  }

  #optionsOf(name: string): string {
    const client = compiled(this.#definitions).program?.clients.find((each) => each.name === name);
    const lines = Object.entries(entriesOf(client?.options ?? [])).map(
      ([key, value]) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)}`,
    );
    return `{\n${lines.join(',\n')}\n}`;
  }

  #parser(input: string): { parser: ReturnType<typeof parserOf>; reply: string } {
    const [, type = '', reply = ''] = /^-> (.*)\n([^]*?)\n?$/u.exec(input) ?? [];
    return { parser: parserOf(type, this.#definitions), reply };
  }

  #valueOf(input: string): string {
    const { parser, reply } = this.#parser(input);
    const outcome = parser.parse(reply);
    if (outcome.ok) return `=> ${outcome.value.json}`;
    const [first] = outcome.failure.details;
    return `=> refused${first?.path === '' ? '' : ` at ${first?.path}`}: ${first?.message}`;
  }

  #partialsOf(input: string): string {
    const { parser, reply } = this.#parser(input);
    return partialsOf(parser, reply.split('¦'))
      .map((partial) => `=> ${partial}`)
      .join('\n');
  }
}

function tableLine(input: string, text: string): string {
  return `${input} → ${text.replaceAll('\n', '⏎')}`;
}

function entriesOf(entries: readonly OptionEntry[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(entries.map(({ key, value }) => [key, dataOf(value)]));
}

/** Variables have the value `<NAME>`. */
function dataOf(value: OptionValue): unknown {
  switch (value.kind) {
    case 'scalar':
      return value.value;
    case 'env':
      return `<${value.variable}>`;
    case 'list':
      return value.items.map(dataOf);
    case 'map':
      return entriesOf(value.entries);
  }
}

function messageText({ role, parts }: Message): string {
  return `[${role}]\n${parts.map(partText).join('\n')}`;
}

function partText(part: MessagePart): string {
  const metadata = part.metadata === undefined ? '' : ` ${JSON.stringify(part.metadata)}`;
  if (part.kind === 'text') return `${part.text}${metadata}`;
  return `<${part.media} ${part.source.kind === 'url' ? part.source.url : part.source.mediaType}>${metadata}`;
}
