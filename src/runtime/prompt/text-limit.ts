import { TemplateFault } from './template-fault.ts';

/** Characters of one value and of the whole output: twice what the largest models take. */
export const MAX_TEXT = 8_000_000;

/** Refuses a text that is about to become too long. */
export function assertTextLength(length: number): void {
  if (length > MAX_TEXT) throw new TemplateFault('a text becomes too long');
}
