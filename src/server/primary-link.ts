import type { Claim } from '../policy/answer-store.ts';
import {
  type Envelope,
  Outbox,
  type PrimaryMessage,
  primaryMessages,
  type Unasked,
  type Questions,
  type QuestionType,
  type WorkerMessage,
} from './protocol.ts';

/** How long a question waits for the answer of the primary. */
const ANSWER_MS = 5_000;

/** Ten thousand classes compile in 5 s; a busy machine takes a multiple of that. */
const COMPILE_MS = 30_000;

/** For questions with another wait. */
const WAITS: Partial<Record<QuestionType, number>> = {
  'load-validators': COMPILE_MS,
  'extend-types': COMPILE_MS,
  // A primary that works answers within a few milliseconds. On a machine that is much too busy, its count is still worth the wait.
  'take-units': 2_000,
  // A search ends after 1.5 s, and others can be before it.
  'query-calls': 20_000,
};

/** How much longer than its wait a claim can take. Without an answer, the call goes on, so this is short. */
const CLAIM_MS = 1_000;

/** A message that answers no question. */
export type PrimaryNotice = Exclude<PrimaryMessage, { readonly type: 'answer' }>;

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

/** The worker's end of the channel to the primary: sends messages, and matches answers with questions. */
export class PrimaryLink {
  readonly #pending = new Map<number, Pending>();
  readonly #outbox = new Outbox<WorkerMessage>((messages) => sendAll(messages, ignore));
  #lastId = 0;

  /** Calls `take` with each message that is not an answer. */
  listen(take: (message: PrimaryNotice) => void): void {
    process.on('message', (received: unknown, socket: unknown) => {
      for (const message of primaryMessages(received)) {
        if (message.type === 'answer') this.#answered(message, socket);
        else take(message);
      }
    });
  }

  /** Sends the message at the end of this turn of the event loop. */
  send(message: WorkerMessage): void {
    this.#outbox.add(message);
  }

  /** Sends the message at once, after those that wait, and calls `sent` when it has left the process. */
  sendNow(message: WorkerMessage, sent: () => void): void {
    sendAll([...this.#outbox.take(), message], sent);
  }

  /** Rejects with the reason why the primary has no answer, or when it does not answer in time. */
  ask<Type extends QuestionType>(
    question: Unasked<Type>,
    timeoutMs = WAITS[question.type] ?? ANSWER_MS,
  ): Promise<Questions[Type]['answer']> {
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve: (value: Questions[Type]['answer']) => void, reject) => {
      const timer = setTimeout(() => {
        this.#pending.delete(id);
        reject(new Error('the primary did not answer'));
      }, timeoutMs);
      this.#pending.set(id, { resolve, reject, timer });
      this.send({ ...question, id } as unknown as WorkerMessage);
    });
  }

  /** Claims a kept answer of the whole server. Rejects when the store fails or the primary does not answer. */
  async claimAnswer(key: string, waitMs: number): Promise<Claim> {
    const claimed = await this.ask({ type: 'claim-answer', key, waitMs }, waitMs + CLAIM_MS);
    if (claimed.kind !== 'mine') return claimed;
    const { id } = claimed;
    return {
      kind: 'mine',
      keep: (answer, ttlMs) => this.send({ type: 'keep-answer', id, answer, ttlMs }),
      release: () => this.send({ type: 'release-answer', id }),
    };
  }

  #answered({ id, value, failure }: Extract<PrimaryMessage, { readonly type: 'answer' }>, socket: unknown): void {
    const pending = this.#pending.get(id);
    if (pending === undefined) {
      // It came too late. If it is a claim, no call of this worker produces the answer.
      this.send({ type: 'release-answer', id });
      return;
    }
    this.#pending.delete(id);
    clearTimeout(pending.timer);
    if (failure === undefined) pending.resolve(socket ?? value);
    else pending.reject(new Error(failure));
  }
}

function sendAll(messages: readonly WorkerMessage[], sent: () => void): void {
  const envelope: Envelope<WorkerMessage> = { svc: messages };
  if (messages.length === 0) return;
  if (process.send === undefined || !process.connected) sent();
  else process.send(envelope, undefined, undefined, () => sent());
}

function ignore(): void {}
