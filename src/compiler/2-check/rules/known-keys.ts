import { didYouMean, didYouMeanOneOf } from '../../../base/suggestion.ts';
import type { DeclarationNode } from '../../1-parse/syntax-nodes.ts';
import type { Rule } from '../check-context.ts';

/** The keys of the blocks that have keys. */
export const KNOWN_KEYS: Readonly<Partial<Record<DeclarationNode['kind'], readonly string[]>>> = {
  function: ['client', 'prompt'],
  client: ['provider', 'retry_policy', 'options'],
  retry_policy: ['max_retries', 'strategy', 'statuses', 'on_invalid_reply', 'options'],
  generator: [
    'output_type',
    'output_dir',
    'version',
    'default_client_mode',
    'on_generate',
    'module_format',
    'client_package_name',
    'project',
  ],
  test: ['functions', 'args', 'type_builder'],
};
/** Hints about the usual misplaced keys. */
const HINTS: Readonly<Partial<Record<DeclarationNode['kind'], string>>> = {
  function: 'A function has "client" and "prompt". Settings of the model belong in the `options` of a client.',
  client: 'A client has "provider", "retry_policy" and "options". Settings of the model belong in `options { … }`.',
  test: 'A test has "functions", "args" and "type_builder". Arguments belong in `args { … }`.',
};
/** Keys that had another name in older versions of the language. */
const RENAMED: ReadonlyMap<string, string> = new Map([['default_options', 'It is now called `options`.']]);
const LEGACY_FUNCTION_KEYS = new Set(['input', 'output']);

/** The keys of a block are known: a misspelt one would silently do nothing. */
export const knownKeys: Rule = ({ scope, report }) => {
  for (const node of scope.declarations) {
    const keys = KNOWN_KEYS[node.kind];
    if (keys === undefined || !('entries' in node)) continue;
    for (const { key, value } of node.entries) {
      // A key without a value already has a diagnostic.
      if (keys.includes(key.text) || value === undefined) continue;
      if (node.kind === 'function' && LEGACY_FUNCTION_KEYS.has(key.text)) {
        report('check/legacy-function-key', key.span, { name: key.text });
        continue;
      }
      const renamed = RENAMED.get(key.text) ?? '';
      const suggestion = renamed || didYouMean(key.text, keys) || (HINTS[node.kind] ?? didYouMeanOneOf(key.text, keys));
      report('check/unknown-key', key.span, { name: key.text, owner: node.kind.replace('_', ' '), suggestion });
    }
  }
};
