import { createRequire } from 'node:module';
import { compile } from '../src/compiler/compile.ts';
import { SourceFile } from '../src/diagnostics/source-file.ts';
import { createPromptRenderer } from '../src/runtime/prompt/create-prompt-renderer.ts';
import type { PromptClient } from '../src/schema/message.ts';
import { ValidatorCompiler } from '../src/compiler/3-emit/validator-compiler.ts';
import { ArgumentValidators } from '../src/runtime/arguments/load-validators.ts';

// Compares the CPU time of rendering a 1 KB prompt with a loop and filters to two other engines for the same dialect.

const TEMPLATE = `You are a careful assistant that extracts facts from documents. Answer in the language of the document,
do not invent anything, and leave out what you do not know. Dates are written as year, month and day.
The customer {{ name|title }} asks about the following {{ items|length }} items:
{% for item in items %}
{{ loop.index }}. {{ item.title|upper }}: {{ item.text|trim }}{% if not loop.last %};{% else %}.{% endif %}

{% endfor %}
Tags: {{ tags|join(", ") }}
{% if note %}
Note: {{ note }}
{% else %}
There is no note from the customer.
{% endif %}
Answer all of the questions above, one after the other, and say for each of them where in the document
you found the answer. When the document has no answer, say so in one sentence and go on with the next one.
Keep the answers short. Do not repeat the questions, do not explain what you do, do not add a summary.`;

const DEFINITIONS = `
class Item {
  title string
  text string
}
function Plain(name: string, items: Item[], tags: string[], note: string?) -> string {
  client "openai/x"
  prompt #"
${TEMPLATE}
"#
}
function Chat(name: string, items: Item[], tags: string[], note: string?) -> Item[] {
  client "openai/x"
  prompt #"
{{ _.role("system") }}
{{ ctx.output_format }}
{{ _.role("user") }}
${TEMPLATE}
"#
}
`;

const ARGS = {
  name: 'jane doe',
  items: [1, 2, 3, 4, 5].map((number) => ({ title: `item ${number}`, text: `  What does it cost ${number}? ` })),
  tags: ['price', 'delivery', 'colour'],
  note: null,
};
const CLIENT: PromptClient = {
  name: 'openai/x',
  provider: 'openai',
  defaultRole: 'system',
  allowedRoles: ['system', 'user', 'assistant'],
  remapRoles: {},
  options: {},
};

const TURNS = 7;
const WARM_UP = 20_000;

interface Engine {
  readonly name: string;
  /** Enough renders for a few hundred milliseconds. */
  readonly rounds: number;
  render(): string;
}

async function main(): Promise<void> {
  const engines = [...svcEngines(), minijinja(), ...(await huggingface())];
  const [plain] = engines;
  for (const engine of engines) {
    if (!engine.name.includes('chat') && engine.render().trim() !== plain?.render().trim()) {
      throw new Error(`${engine.name} renders a different text`);
    }
    repeat(engine, Math.min(WARM_UP, engine.rounds));
  }
  const turns = Array.from({ length: TURNS }, () => engines.map(microsecondsPerRender));
  for (const [index, { name }] of engines.entries()) {
    const ours = median(turns.map((turn) => turn[0] ?? 0));
    const theirs = median(turns.map((turn) => turn[index] ?? 0));
    console.log(
      `${name.padEnd(28)} ${theirs.toFixed(2).padStart(8)} µs CPU  ${(theirs / ours).toFixed(1).padStart(6)} x`,
    );
  }
}

function svcEngines(): readonly Engine[] {
  const { program, diagnostics } = compile([new SourceFile('bench.baml', DEFINITIONS)], {
    version: '0.0.0',
    versionCheck: false,
    beta: true,
    apiKey: false,
  });
  if (program === undefined) throw new Error(diagnostics.map((each) => each.message).join('\n'));
  const compiler = new ValidatorCompiler(program);
  const validators = new ArgumentValidators((functionName) => compiler.source(functionName));
  const renderer = createPromptRenderer(program, (functionName) => validators.of(functionName).createFits());
  const render = (functionName: string) => (): string => {
    const result = renderer.render(functionName, ARGS, CLIENT);
    if (!result.ok) throw new Error(result.failure.message);
    return result.value.flatMap(({ parts }) => parts.map((part) => (part.kind === 'text' ? part.text : ''))).join('\n');
  };
  return [
    { name: 'svc', rounds: 50_000, render: render('Plain') },
    { name: 'svc, chat with output format', rounds: 50_000, render: render('Chat') },
  ];
}

interface Minijinja {
  trimBlocks: boolean;
  lstripBlocks: boolean;
  addTemplate(name: string, source: string): void;
  renderTemplate(name: string, context: unknown): string;
}

function minijinja(): Engine {
  const { Environment } = createRequire(import.meta.url)('minijinja-js') as {
    readonly Environment: new () => Minijinja;
  };
  const environment = new Environment();
  environment.trimBlocks = true;
  environment.lstripBlocks = true;
  environment.addTemplate('plain', TEMPLATE);
  return { name: 'minijinja-js', rounds: 5000, render: () => environment.renderTemplate('plain', ARGS) };
}

interface HuggingFaceJinja {
  readonly Template: new (source: string) => { render(context: unknown): string };
}

/** Optional: installed with the other programs that svc is compared with. */
async function huggingface(): Promise<readonly Engine[]> {
  const name = '@huggingface/jinja';
  try {
    const { Template } = (await import(name)) as HuggingFaceJinja;
    const template = new Template(TEMPLATE);
    return [{ name, rounds: 2000, render: () => template.render(ARGS) }];
  } catch {
    console.log(`${name} is not installed: npm --prefix bench install`);
    return [];
  }
}

function microsecondsPerRender(engine: Engine): number {
  const before = process.cpuUsage();
  repeat(engine, engine.rounds);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / engine.rounds;
}

let total = 0;

/** Uses the length of each result, so that the JavaScript engine cannot drop the work. */
function repeat(engine: Engine, times: number): void {
  for (let round = 0; round < times; round += 1) total += engine.render().length;
  if (total < 0) throw new Error('unreachable');
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

await main();
