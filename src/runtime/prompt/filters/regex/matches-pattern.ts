import type { Run } from '../../run.ts';
import { TemplateFault } from '../../template-fault.ts';

/** Placeholder until the matcher is there. */
export function matchesPattern(text: string, _pattern: string, run: Run): boolean {
  run.charge(text.length >> 4);
  throw new TemplateFault('regular expressions are not supported yet');
}
