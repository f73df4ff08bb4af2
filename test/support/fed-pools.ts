import { ByteBudget } from '../../src/base/byte-budget.ts';
import { ConnectionPools } from '../../src/runtime/model/http/connection-pools.ts';
import type { HttpCall, OriginPool, ResponseListener } from '../../src/runtime/model/http/origin-pool.ts';

/** Pools without a network: a test feeds the responses itself. */
export class FedPools extends ConnectionPools {
  override readonly replies = new ByteBudget(3_000_000);
  /** The handler of the latest request. */
  listener: ResponseListener | undefined;
  /** All actions of the senders, in order. */
  readonly log: string[] = [];

  readonly #onSend: () => void;

  constructor(onSend: () => void = () => undefined) {
    super();
    this.#onSend = onSend;
  }

  override to(): OriginPool {
    return {
      send: (call, listener) => this.#send(call, listener),
      counts: [],
      close: () => Promise.resolve(),
      destroy: () => Promise.resolve(),
    };
  }

  #send(call: HttpCall, listener: ResponseListener): ReturnType<OriginPool['send']> {
    this.listener = listener;
    this.#onSend();
    this.log.push(`send ${call.path}`);
    return {
      pause: () => this.log.push('pause') > 0,
      rest: () => this.log.push('rest') > 0,
      resume: () => this.log.push('resume'),
      finish: () => this.log.push('finish'),
      cancel: () => this.log.push('cancel'),
    };
  }
}
