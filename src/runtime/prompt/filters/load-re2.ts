import { createRequire } from 'node:module';
import type { RE2JS } from 're2js';

const require = createRequire(import.meta.url);

/** Loads re2js on first use (5 ms): most programs have no regular expression. Rendering is synchronous, so this is too. */
export function loadRe2(): typeof RE2JS {
  return (require('re2js') as { readonly RE2JS: typeof RE2JS }).RE2JS;
}
