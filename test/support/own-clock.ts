import { setTimeout as realSleep } from 'node:timers/promises';
import { afterAll, beforeAll, onTestFinished, vi } from 'vitest';

/** The timers and clocks that the tested code uses. */
const FAKED = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance', 'Date'] as const;

/** The clock moves by this much whenever the network is quiet. Shorter than every limit and wait of a test by far. */
const QUIET_STEP_MS = 25;

/** The clock moves by this much while data is on its way, so that limits also end floods. */
const BUSY_STEP_MS = 5;

/**
 * A clock for tests with connections inside this process: limits and waits end in the same order on any machine, however busy, and
 * take less real time. The clock stands still while the process reads and writes, because a step follows only after several turns
 * of the event loop.
 */
class OwnClock {
  readonly #traffic: () => number;
  readonly #done: Promise<void>;
  #isStopped = false;

  /** `traffic` counts the bytes that moved so far. */
  constructor(traffic: () => number) {
    this.#traffic = traffic;
    vi.useFakeTimers({ toFake: [...FAKED] });
    this.#done = this.#run();
  }

  /** Restores the real timers. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#done;
    vi.useRealTimers();
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      const before = this.#traffic();
      await realSleep(1);
      for (let turn = 0; turn < 3; turn += 1) await nextTurn();
      vi.advanceTimersByTime(this.#traffic() === before ? QUIET_STEP_MS : BUSY_STEP_MS);
    }
  }
}

/** The rest of the current test runs on its own clock. */
export function startOwnClock(traffic: () => number): void {
  const clock = new OwnClock(traffic);
  onTestFinished(() => clock.stop());
}

/** The tests of this file run on their own clock. */
export function runOnOwnClock(traffic: () => number): void {
  let clock: OwnClock | undefined;
  beforeAll(() => {
    clock = new OwnClock(traffic);
  });
  afterAll(() => clock?.stop());
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
