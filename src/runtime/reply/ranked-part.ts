import type { CoercedValue } from './coercion/outcome.ts';
import type { ReplyPart } from './reply-parts.ts';

/** A part of a reply that was tried. */
export type Standing = RankedPart | FailedPart;

/** A part that matches the type, with its rank by each criterion: lower is better. */
export interface RankedPart extends Demotion {
  readonly part: ReplyPart;
  readonly value: CoercedValue;
  readonly ranks: readonly number[];
}

export interface FailedPart extends Demotion {
  readonly part: ReplyPart;
  readonly value: undefined;
}

/** The reason why a part is unlikely to be the answer; empty if there is none. */
interface Demotion {
  readonly demotion: string;
}
