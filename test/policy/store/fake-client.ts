import { type StoreOperation, Store, type StoreFailure, type StoreClient } from '../../../src/policy/store/store.ts';
import { recordingLogger } from '../../support/recording-logger.ts';

/** How the store treats operations: answers, never answers, answers with an error, or has no connection. */
export type Fault = 'none' | 'silent' | 'OOM' | 'closed';

type Answer = (keys: readonly string[], args: ReadonlyArray<string | number>) => unknown;

/** A store in memory whose faults a test sets. */
class FakeClient implements StoreClient {
  ready = false;
  closed = false;
  fault: Fault = 'none';
  readonly asked: StoreOperation[] = [];
  readonly answers: Partial<Record<StoreOperation, Answer>> = { beat: () => [1], leave: () => 1 };
  #change: (error: unknown) => void = () => undefined;

  run(operation: StoreOperation, keys: readonly string[], args: ReadonlyArray<string | number>): Promise<unknown> {
    this.asked.push(operation);
    if (!this.ready) return Promise.reject(Object.assign(new Error('no connection'), { code: 'ECONNREFUSED' }));
    if (this.fault === 'silent') return new Promise(() => undefined);
    if (this.fault === 'OOM') return Promise.reject(new Error('OOM command not allowed'));
    return Promise.resolve(this.answers[operation]?.(keys, args));
  }

  onChange(listener: (error: unknown) => void): void {
    this.#change = listener;
  }

  close(): void {
    this.closed = true;
  }

  become(fault: Fault): void {
    this.fault = fault;
    const ready = fault !== 'closed';
    if (ready === this.ready) return;
    this.ready = ready;
    this.#change(ready ? undefined : Object.assign(new Error('secret-user@host'), { code: 'ECONNRESET' }));
  }
}

/** A store on a fake client, with everything that it logs and counts. */
export function fakeStore() {
  const client = new FakeClient();
  const { logger, lines } = recordingLogger();
  const counted: Array<readonly [StoreOperation, StoreFailure | undefined]> = [];
  const store = new Store(client, {
    prefix: 'svc',
    logger,
    observe: (operation, _seconds, failure) => void counted.push([operation, failure]),
  });
  return { client, store, lines, counted };
}
