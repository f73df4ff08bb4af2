/** Deltas of a stream, and the milliseconds before each of them. */
export const DELTAS = 54;
export const DELTA_EVERY_MS = 20;

/** Characters of a stamp: `@` and milliseconds with two decimals. */
const WIDTH = 10;
/** Stamps repeat after this many milliseconds, longer than any stream. */
const PERIOD_MS = 1_000_000;

/** The time on the clock that all processes of the machine share, in milliseconds within the period of the stamps. */
export function sharedNow(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return (seconds % (PERIOD_MS / 1000)) * 1000 + nanoseconds / 1e6;
}

/** Milliseconds between two times of `sharedNow()` that are less than half a period apart. */
export function elapsedMs(from: number, to: number): number {
  const elapsed = (to - from) % PERIOD_MS;
  if (elapsed >= PERIOD_MS / 2) return elapsed - PERIOD_MS;
  return elapsed < -PERIOD_MS / 2 ? elapsed + PERIOD_MS : elapsed;
}

/** A time as text of a fixed length. */
export function stampOf(time: number): string {
  return `@${time.toFixed(2).padStart(WIDTH - 1, '0')}`;
}

/** Milliseconds between the last two stamps in a text; undefined if it has no two stamps. */
export function stampedMs(text: string): number | undefined {
  const last = text.lastIndexOf('@');
  const ms = elapsedMs(stampAt(text, text.lastIndexOf('@', last - 1)), stampAt(text, last));
  return Number.isNaN(ms) ? undefined : ms;
}

function stampAt(text: string, at: number): number {
  return Number(text.slice(at + 1, at + WIDTH));
}

/** Stamps in one string of the value. */
const STAMPS_IN_STRING = 6;

/**
 * The value that a stream returns consists of a few fields and of the stamps, in strings of a list. It has spaces, as models write JSON:
 * without them, BAML's streams show nothing between the first unquoted value and the end, and cost it little.
 */
const VALUE_BEGIN = '{"name": "Ada Lovelace", "topic": "analytical engine", "urgent": false, "points": ["';

/** The text of delta `index`, sent at this time: together, they are the JSON of the value. */
export function deltaText(index: number, time: number): string {
  const begin = index === 0 ? VALUE_BEGIN : index % STAMPS_IN_STRING === 0 ? '", "' : '';
  return `${begin}${stampOf(time)}${index === DELTAS - 1 ? '"]}' : ''}`;
}

/** Measures how long each delta of one stream was on its way, from events that contain the value so far. */
export class StampReader {
  readonly #onDelay: (delayMs: number) => void;
  #seen = 0;
  /** The end of the last stamp seen, after the first one in an event. */
  #offset = 0;

  constructor(onDelay: (delayMs: number) => void) {
    this.#onDelay = onDelay;
  }

  /** Deltas that have arrived. */
  get seen(): number {
    return this.#seen;
  }

  /** Reads the value in the last of the events that arrived at this time. */
  read(event: string, time: number): void {
    const begin = event.indexOf('@', event.lastIndexOf('data:'));
    if (begin < 0) return;
    let at = event.indexOf('@', begin + this.#offset);
    while (at >= 0 && at + WIDTH <= event.length) {
      this.#seen += 1;
      this.#onDelay(elapsedMs(stampAt(event, at), time));
      this.#offset = at + WIDTH - begin;
      at = event.indexOf('@', at + WIDTH);
    }
  }
}
