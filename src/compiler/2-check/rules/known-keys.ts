import { didYouMean } from '../../../base/suggestion.ts';
import type { DeclarationNode } from '../../1-parse/syntax-nodes.ts';
import type { Rule } from '../check-context.ts';

const KEYS: Readonly<Partial<Record<DeclarationNode['kind'], readonly string[]>>> = {
  function: ['client', 'prompt'],
  client: ['provider', 'retry_policy', 'options'],
  retry_policy: ['max_retries', 'strategy', 'statuses', 'options'],
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
/** Where other keys belong, most likely. */
const ADVICE: Readonly<Partial<Record<DeclarationNode['kind'], string>>> = {
  function: 'It has a client and a prompt; settings of the model belong to the `options` of a client.',
  client: 'It has provider, retry_policy and options; settings of the model belong into `options { … }`.',
};
const LEGACY_FUNCTION_KEYS = new Set(['input', 'output']);

/** Every block has a fixed set of keys: a misspelt one would silently do nothing. */
export const knownKeys: Rule = ({ scope, report }) => {
  for (const node of scope.declarations) {
    const keys = KEYS[node.kind];
    if (keys === undefined || !('entries' in node)) continue;
    for (const { key, value } of node.entries) {
      // A key without a value has a diagnostic already.
      if (keys.includes(key.text) || value === undefined) continue;
      if (node.kind === 'function' && LEGACY_FUNCTION_KEYS.has(key.text)) {
        report('check/legacy-function-key', key.span, { name: key.text });
        continue;
      }
      const suggestion = didYouMean(key.text, keys) || ADVICE[node.kind] || `It has: ${keys.join(', ')}.`;
      report('check/unknown-key', key.span, { name: key.text, owner: node.kind.replace('_', ' '), suggestion });
    }
  }
};
