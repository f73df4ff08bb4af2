import type { SwapRemoveMember } from '../../base/swap-remove-set.ts';

/** A request in flight. */
export interface Drainable extends SwapRemoveMember {
  /** Ends the request because the process stops. */
  drain(): void;
}
