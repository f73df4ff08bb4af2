import type { ChildProcess } from 'node:child_process';
import { end, freePort, start, untilReady, type Command } from '../child-process.ts';
import { commandOf } from '../sides.ts';
import { askCall, askStream, LOST, type Answer, type CompatSide } from './ask.ts';
import type { Call, Project } from './projects.ts';
import type { RecordingProvider } from './recording-provider.ts';
import { KEY } from './registries.ts';

/** How one side answered a call. */
export interface Answers {
  readonly call: Answer;
  readonly stream: Answer;
  /** The prompts that reached the model: those of `/call`, then those of `/stream`. */
  readonly prompts: readonly string[];
}

/** A process that allocates more than this is stopped before it exhausts the memory of the machine. */
const MAX_DATA_BYTES = 4 * 1024 ** 3;
/** The variables from which clients read a key by default: no real key reaches the servers. */
const KEY_VARIABLES = ['OPENAI', 'ANTHROPIC', 'GOOGLE', 'AZURE_OPENAI', 'OPENROUTER'].map((name) => `${name}_API_KEY`);

/** One side's server of one project. */
export class ServedProject {
  readonly #side: CompatSide;
  readonly #project: Project;
  readonly #provider: RecordingProvider;
  #child: ChildProcess | undefined;
  #url = '';

  constructor(side: CompatSide, project: Project, provider: RecordingProvider) {
    this.#side = side;
    this.#project = project;
    this.#provider = provider;
  }

  /** Throws if the server does not answer in time. */
  async start(): Promise<void> {
    const port = String(await freePort());
    this.#url = `http://127.0.0.1:${port}`;
    const { definitions } = this.#project;
    const command = commandOf(this.#side, port, { definitions, provider: '', env: this.#environment(), workers: 1 });
    this.#child = start(limited({ ...command, cwd: definitions }));
    await untilReady(this.#child, `${this.#url}/_debug/ping`);
  }

  async end(): Promise<void> {
    if (this.#child !== undefined) await end(this.#child);
  }

  /**
   * Makes all calls at once, because a failed stream of BAML ends only after 15 s. If the process dies, makes the lost calls again,
   * one request at a time, so that only the request that kills the process has no answer.
   */
  async askAll(calls: readonly Call[]): Promise<readonly Answers[]> {
    const together = await Promise.all(calls.map((call) => this.#ask(call)));
    const answers: Answers[] = [];
    for (const [index, call] of calls.entries()) {
      const answer = together[index];
      const lost = answer === undefined || answer.call.outcome === LOST || answer.stream.outcome === LOST;
      answers.push(lost ? await this.#ask(call, () => this.#restart()) : answer);
    }
    return answers;
  }

  async #restart(): Promise<void> {
    await this.end();
    await this.start();
  }

  async #ask(call: Call, before: () => Promise<void> = async () => {}): Promise<Answers> {
    const channels = { call: this.#provider.open(call.reply), stream: this.#provider.open(call.reply) };
    await before();
    const answer = await askCall(`${this.#url}/call/${call.function}`, bodyOf(call, channels.call.url));
    await before();
    const stream = await askStream(
      this.#side,
      `${this.#url}/stream/${call.function}`,
      bodyOf(call, channels.stream.url),
    );
    return { call: answer, stream, prompts: [...channels.call.prompts, ...channels.stream.prompts] };
  }

  /** The servers have the variables themselves, because BAML keeps a variable that only a caller has sent. */
  #environment(): Readonly<Record<string, string>> {
    return {
      COMPAT_URL: `${this.#provider.url}/server/v1`,
      COMPAT_KEY: KEY,
      ...Object.fromEntries(KEY_VARIABLES.map((name) => [name, KEY])),
      AWS_EC2_METADATA_DISABLED: 'true',
      // The clients of requests ask the provider on this machine.
      SVC_TRUST_LOOPBACK: 'true',
    };
  }
}

function limited(command: Command): Command {
  const args = [`--data=${MAX_DATA_BYTES}`, command.program, ...command.args];
  return { ...command, program: 'prlimit', args };
}

function bodyOf({ args, registry }: Call, url: string): string {
  const options = { env: { COMPAT_URL: url }, ...(registry === undefined ? {} : { client_registry: registry(url) }) };
  return JSON.stringify({ ...args, __baml_options__: options });
}
