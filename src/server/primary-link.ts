import { isPrimaryMessage, type PrimaryMessage, type WorkerMessage } from './protocol.ts';

/** An answer of the primary that does not come within this time is given up. */
const ANSWER_MS = 5_000;

type AnswerOf = Extract<PrimaryMessage, { readonly id: number }>;

interface Pending {
  readonly resolve: (answer: AnswerOf) => void;
  readonly timer: NodeJS.Timeout;
}

/** The worker's end of the channel to the primary: messages out, answers to questions in. */
export class PrimaryLink {
  readonly #pending = new Map<number, Pending>();
  #lastId = 0;

  /** `take` gets everything that is no answer. */
  listen(take: (message: PrimaryMessage) => void): void {
    process.on('message', (message: unknown) => {
      if (!isPrimaryMessage(message)) return;
      if (message.type === 'turn' || message.type === 'merged-metrics') this.#answered(message);
      else take(message);
    });
  }

  send(message: WorkerMessage, sent: () => void = ignore): void {
    if (process.send === undefined || !process.connected) sent();
    else process.send(message, undefined, undefined, () => sent());
  }

  /** The metrics of all processes as Prometheus text. Rejects when the primary does not answer. */
  async metricsText(): Promise<string> {
    const answer = await this.#ask((id) => ({ type: 'merge-metrics', id }));
    return answer.type === 'merged-metrics' ? answer.text : '';
  }

  /** Turns of a round-robin client over all workers. Rejects when the primary does not answer. */
  async takeTurn(client: string): Promise<number> {
    const answer = await this.#ask((id) => ({ type: 'take-turn', id, client }));
    return answer.type === 'turn' ? answer.turn : 0;
  }

  #ask(question: (id: number) => WorkerMessage): Promise<AnswerOf> {
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#pending.delete(id);
        reject(new Error('the primary did not answer'));
      }, ANSWER_MS);
      this.#pending.set(id, { resolve, timer });
      this.send(question(id));
    });
  }

  #answered(answer: AnswerOf): void {
    const pending = this.#pending.get(answer.id);
    if (pending === undefined) return;
    this.#pending.delete(answer.id);
    clearTimeout(pending.timer);
    pending.resolve(answer);
  }
}

function ignore(): void {}
