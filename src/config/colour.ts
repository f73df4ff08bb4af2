import type { Variables } from './environment.ts';

/** Colour for a terminal alone, and not when NO_COLOR is set to anything (https://no-color.org). */
export function wantsColour(isTerminal: boolean, variables: Variables): boolean {
  return isTerminal && (variables['NO_COLOR'] ?? '') === '' && variables['TERM'] !== 'dumb';
}
