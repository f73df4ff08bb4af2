import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { JsonValue } from '../../src/base/json.ts';
import type { Reading } from './readings.ts';

export const CLIENT_FILE = 'recover.baml';

export type BamlMessage =
  | { readonly type: 'definitions'; readonly text: string }
  | { readonly type: 'reply'; readonly functionName: string; readonly reply: string };

export type BamlAnswer =
  | { readonly ok: true; readonly json: string }
  | { readonly ok: false; readonly message: string };

/** A reply that takes longer than this counts as a crash. The slowest reply of the benchmark takes milliseconds. */
const LIMIT_MS = 5000;

/** BAML's parser in a child process, which is replaced when a reply ends or stops it. */
export class BamlSide {
  readonly #definitions: string;
  #child: ChildProcess | undefined = undefined;

  constructor(definitions: string) {
    this.#definitions = definitions;
  }

  async read(functionName: string, reply: string): Promise<Reading> {
    const child = (this.#child ??= await this.#start());
    child.send({ type: 'reply', functionName, reply } satisfies BamlMessage);
    const answer = await answerOf(child);
    if (answer === undefined) {
      this.end();
      return { kind: 'refused', message: 'the process ended or did not answer', crashed: true };
    }
    if (!answer.ok) return { kind: 'refused', message: answer.message };
    return { kind: 'value', value: JSON.parse(answer.json) as JsonValue, losses: 0 };
  }

  end(): void {
    this.#child?.kill('SIGKILL');
    this.#child = undefined;
  }

  async #start(): Promise<ChildProcess> {
    const path = fileURLToPath(new URL('baml-child.js', import.meta.url));
    const child = fork(path, {
      env: { ...process.env, BAML_LOG: 'off' },
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    await once(child, 'message');
    child.send({ type: 'definitions', text: this.#definitions } satisfies BamlMessage);
    return child;
  }
}

/** Resolves to the next answer; to undefined if the process ends or takes too long. */
function answerOf(child: ChildProcess): Promise<BamlAnswer | undefined> {
  return new Promise((resolve) => {
    const finish = (answer?: BamlAnswer): void => {
      clearTimeout(timer);
      child.removeAllListeners();
      resolve(answer);
    };
    const timer = setTimeout(finish, LIMIT_MS);
    child.once('message', (answer: BamlAnswer) => finish(answer));
    child.once('exit', () => finish());
    child.once('error', () => finish());
  });
}
