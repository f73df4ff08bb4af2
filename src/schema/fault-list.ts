import type { FaultAt } from './errors.ts';

/** A list of a million wrong items would make an answer larger than the request. */
const MAX_FAULTS = 100;

/** The first hundred faults of what a request brings, and after them a word that there are more. */
export class FaultList {
  readonly all: FaultAt[] = [];

  /** Nothing that comes now is told: there is no use in looking for more. */
  get full(): boolean {
    return this.all.length > MAX_FAULTS;
  }

  add(fault: FaultAt): void {
    if (this.all.length === MAX_FAULTS) this.all.push({ path: '', message: 'and more: these are the first 100' });
    if (this.all.length < MAX_FAULTS) this.all.push(fault);
  }
}
