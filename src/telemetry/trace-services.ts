import type { TextMapPropagator } from '@opentelemetry/api';
import type { Redact } from './attributes.ts';
import type { Instruments } from './instruments.ts';
import type { Sampling, SpanOutput } from './spans.ts';

/** The objects that all traces of a process share. */
export interface TraceServices {
  /** Undefined if svc exports no traces. */
  readonly traces: (SpanOutput & { readonly sampling: Sampling }) | undefined;
  /** Undefined if svc exports no metrics. */
  readonly instruments: Instruments | undefined;
  readonly propagator: TextMapPropagator;
  readonly names: KnownNames;
  readonly clock: EpochClock;
  readonly captureContent: boolean;
  readonly redact: Redact;
}

/** The value for all names beyond the limit. */
export const OTHER = 'other';

/** The maximum length of the name of a model or client. */
const LONGEST_NAME = 256;

export function short(name: string): string {
  return name.length <= LONGEST_NAME ? name : `${name.slice(0, LONGEST_NAME - 1)}…`;
}

/** The names that this process has used in metrics. Names beyond the limit share one value. */
export class KnownNames {
  readonly #limit: number;
  readonly #names = new Set<string>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  bounded(name: string): string {
    if (this.#names.has(name)) return name;
    if (this.#names.size >= this.#limit || name.length > LONGEST_NAME) return OTHER;
    this.#names.add(name);
    return name;
  }
}

/** A larger difference is a change of the system's clock. Smaller ones are rounding, and would shift the spans of a trace. */
const CHANGE_MS = 50;

/** Converts times of `performance.now()`, which is monotonic, to times of the system's clock. */
export class EpochClock {
  #offset = Date.now() - performance.now();

  /** Call this from time to time, because the two clocks drift apart. */
  adjust(): void {
    const offset = Date.now() - performance.now();
    if (Math.abs(offset - this.#offset) > CHANGE_MS) this.#offset = offset;
  }

  /** Returns milliseconds since 1970. */
  at(time: number): number {
    return this.#offset + time;
  }

  /** Returns milliseconds since 1970. */
  now(): number {
    return this.at(performance.now());
  }
}
