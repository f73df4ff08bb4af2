import type { Variables } from './environment.ts';

/**
 * Colour for a terminal alone, and not when NO_COLOR is set to anything (https://no-color.org). FORCE_COLOR decides before both,
 * as it does for Node itself: for logs of CI that show colours, `0` for none.
 */
export function wantsColour(isTerminal: boolean, variables: Variables): boolean {
  const forced = variables['FORCE_COLOR'] ?? '';
  if (forced !== '') return forced !== '0' && forced !== 'false';
  return isTerminal && (variables['NO_COLOR'] ?? '') === '' && variables['TERM'] !== 'dumb';
}
