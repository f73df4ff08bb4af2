import type { Claim } from '../policy/answer-store.ts';
import type { LeaseRequest } from '../policy/lease-desk.ts';
import type { Grant } from '../policy/ledger.ts';
import type { TypeOutcome, TypeRefusal, TypeRequest } from '../schema/type-extension.ts';
import {
  type Envelope,
  type MetricsFormat,
  Outbox,
  type PrimaryMessage,
  primaryMessages,
  type WorkerMessage,
} from './protocol.ts';
import type { ServerState } from './server-state.ts';

/** How long a question waits for the answer of the primary. */
const ANSWER_MS = 5_000;

/** Ten thousand classes compile in 5 s; a busy machine takes a multiple of that. */
const COMPILE_MS = 30_000;

/**
 * A primary that works answers within a few milliseconds, also while it recalls leases or asks a store. On a machine that is much
 * too busy it takes longer, and its count is still worth the wait.
 */
const UNITS_MS = 2_000;

/** How much longer than its wait a claim can take. Without an answer, the call goes on, so this is short. */
const CLAIM_MS = 1_000;

/** Answers have the id of their question. The id of `collect-metrics` is a question of the primary. */
type AnswerMessage = Exclude<Extract<PrimaryMessage, { readonly id: number }>, { readonly type: 'collect-metrics' }>;

/** A message that answers no question. */
export type PrimaryNotice = Exclude<PrimaryMessage, AnswerMessage>;

/** An answer, and the socket that came with it, if any. */
interface Answered {
  readonly answer: AnswerMessage;
  readonly socket: unknown;
}

interface Pending {
  readonly resolve: (answered: Answered) => void;
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
        if ('id' in message && message.type !== 'collect-metrics') this.#answered(message, socket);
        else take(message);
      }
    });
  }

  /** Sends the message at the end of this turn of the event loop. */
  send(message: WorkerMessage): void {
    this.#outbox.add(message);
  }

  /** Sends the message at once, and calls `sent` when the process can exit. */
  sendLast(message: WorkerMessage, sent: () => void): void {
    sendAll([...this.#outbox.take(), message], sent);
  }

  /** The metrics of all processes as text. Rejects when the primary does not answer. */
  async metricsText(format: MetricsFormat): Promise<string> {
    const { answer } = await this.#ask((id) => ({ type: 'merge-metrics', id, format }));
    return answer.type === 'merged-metrics' ? answer.text : '';
  }

  /** The state of all processes. Rejects when the primary does not answer. */
  async serverState(): Promise<ServerState> {
    const { answer } = await this.#ask((id) => ({ type: 'ask-state', id }));
    if (answer.type === 'server-state') return answer.state;
    throw new Error('the primary sent no state');
  }

  /** The next turn of a round-robin client, over all workers. Rejects when the primary does not answer. */
  async takeTurn(client: string): Promise<number> {
    const { answer } = await this.#ask((id) => ({ type: 'take-turn', id, client }));
    return answer.type === 'turn' ? answer.turn : 0;
  }

  /** The source of a function's argument validators. Rejects with the reason, or when the primary does not answer. */
  async validators(functionName: string): Promise<string> {
    const { answer } = await this.#ask((id) => ({ type: 'load-validators', id, functionName }), COMPILE_MS);
    if (answer.type === 'validators' && answer.source !== undefined) return answer.source;
    throw new Error(`no validators of ${functionName}: ${answer.type === 'validators' ? answer.failure : answer.type}`);
  }

  /** The types of a request. Rejects if the primary cannot compile them now. */
  async types(request: TypeRequest, caller?: string): Promise<TypeOutcome | TypeRefusal> {
    const { answer } = await this.#ask((id) => ({ type: 'extend-types', id, request, caller }), COMPILE_MS);
    if (answer.type === 'extended-types') return answer.outcome;
    throw new Error('the primary did not compile the types');
  }

  /** Units of a limit. Rejects if the ledger of the primary failed, or when the primary does not answer. */
  async takeUnits(request: LeaseRequest): Promise<Grant> {
    const { answer } = await this.#ask((id) => ({ type: 'take-units', id, request }), UNITS_MS);
    if (answer.type === 'units' && answer.grant !== undefined) return answer.grant;
    throw new Error('the primary could not count the units of a limit');
  }

  /** Claims a kept answer of the whole server. Rejects when the store fails or the primary does not answer. */
  async claimAnswer(key: string, waitMs: number): Promise<Claim> {
    const question = (id: number): WorkerMessage => ({ type: 'claim-answer', id, key, waitMs });
    const { answer } = await this.#ask(question, waitMs + CLAIM_MS);
    if (answer.type !== 'claimed-answer') return { kind: 'busy' };
    const { claimed, id } = answer;
    if (claimed.kind === 'failed') throw new Error(claimed.reason);
    if (claimed.kind !== 'mine') return claimed;
    return {
      kind: 'mine',
      keep: (text, ttlMs) => this.send({ type: 'keep-answer', id, answer: text, ttlMs }),
      release: () => this.send({ type: 'release-answer', id }),
    };
  }

  /** The bound socket of a port, from which the other workers accept too. Rejects with the reason. */
  async sharedPort(host: string, port: number): Promise<object> {
    const { answer, socket } = await this.#ask((id) => ({ type: 'share-port', id, host, port }));
    if (answer.type === 'shared-port' && answer.failure !== undefined) throw new Error(answer.failure);
    if (typeof socket !== 'object' || socket === null) throw new Error('the primary sent no socket');
    return socket;
  }

  #ask(question: (id: number) => WorkerMessage, timeoutMs = ANSWER_MS): Promise<Answered> {
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#pending.delete(id);
        reject(new Error('the primary did not answer'));
      }, timeoutMs);
      this.#pending.set(id, { resolve, timer });
      this.send(question(id));
    });
  }

  #answered(answer: AnswerMessage, socket: unknown): void {
    const pending = this.#pending.get(answer.id);
    if (pending === undefined) {
      // It came too late: no call of this worker produces the answer.
      if (answer.type === 'claimed-answer') this.send({ type: 'release-answer', id: answer.id });
      return;
    }
    this.#pending.delete(answer.id);
    clearTimeout(pending.timer);
    pending.resolve({ answer, socket });
  }
}

function sendAll(messages: readonly WorkerMessage[], sent: () => void): void {
  const envelope: Envelope<WorkerMessage> = { svc: messages };
  if (process.send === undefined || !process.connected) sent();
  else process.send(envelope, undefined, undefined, () => sent());
}

function ignore(): void {}
