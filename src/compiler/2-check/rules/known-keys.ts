import { didYouMean, didYouMeanOneOf } from '../../../base/suggestion.ts';
import { KNOWN_KEYS, type DeclarationNode, type EntryNode, type ValueNode } from '../../1-parse/syntax-nodes.ts';
import type { Rule } from '../check-context.ts';
import { entryValue, stringOf } from '../node-values.ts';

const STRATEGY_HINT = 'Write `provider fallback` and `options { strategy [A, B] }` in a client of its own.';
const RETRY_HINT = 'Declare `retry_policy Name { max_retries 2 }`, and write `retry_policy Name` in the client.';
/** Hints about the usual misplaced keys. */
const HINTS: Readonly<Partial<Record<DeclarationNode['kind'], string>>> = {
  function: 'A function has "client" and "prompt". Settings of the model belong in the `options` of a client.',
  client: 'A client has "provider", "retry_policy" and "options". Settings of the model belong in `options { … }`.',
  test: 'A test has "functions", "args" and "type_builder". Arguments belong in `args { … }`.',
};
/** Keys that had another name in older versions of the language. */
const RENAMED: ReadonlyMap<string, string> = new Map([['default_options', 'It is now called `options`.']]);
/** Keys of other tools, with what to write here. */
const FOREIGN_KEYS: Readonly<Partial<Record<DeclarationNode['kind'], ReadonlyMap<string, string>>>> = {
  function: hints([
    [['system', 'system_prompt', 'user', 'messages'], 'Write roles in the prompt, such as `{{ _.role("system") }}`.'],
    [['model', 'provider'], 'Write `client "openai/gpt-4o"`, or the name of a client.'],
  ]),
  client: hints([
    [['strategy', 'fallback', 'fallbacks'], STRATEGY_HINT],
    [['retry', 'retries', 'max_retries', 'num_retries'], RETRY_HINT],
  ]),
  test: hints([
    [['input', 'inputs', 'arguments', 'params', 'parameters'], 'Write `args { … }`.'],
    [
      ['expected', 'expect', 'output', 'result', 'assert', 'check'],
      'Write the condition as `@@assert({{ this == … }})`, in which "this" is the result.',
    ],
  ]),
  retry_policy: hints([
    [
      ['max_attempts', 'attempts', 'retries', 'num_retries'],
      'Write `max_retries 2`, which counts the attempts after the first one.',
    ],
    [['delay', 'delay_ms'], 'Write `delay_ms 200` in `strategy { … }`, beside `type constant_delay`.'],
    [['backoff', 'multiplier'], 'Write `multiplier 1.5` in `strategy { … }`, beside `type exponential_backoff`.'],
  ]),
};

function hints(entries: ReadonlyArray<readonly [keys: readonly string[], hint: string]>): ReadonlyMap<string, string> {
  return new Map(entries.flatMap(([keys, hint]) => keys.map((key) => [key, hint] as const)));
}

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
      const known =
        RENAMED.get(key.text) ??
        FOREIGN_KEYS[node.kind]?.get(key.text) ??
        (node.kind === 'function' && key.text === 'retry_policy' ? clientWithRetries(node.entries, value) : undefined);
      const suggestion = known ?? (didYouMean(key.text, keys) || (HINTS[node.kind] ?? didYouMeanOneOf(key.text, keys)));
      report('check/unknown-key', key.span, { name: key.text, owner: node.kind.replace('_', ' '), suggestion });
    }
  }
};

/** What to write for a function with a retry policy: clients have them. */
function clientWithRetries(entries: readonly EntryNode[], policy: ValueNode): string {
  const name = stringOf(policy) ?? 'Name';
  const client = stringOf(entryValue(entries, 'client'));
  const slash = client?.indexOf('/') ?? -1;
  if (client !== undefined && slash < 0) return `Write \`retry_policy ${name}\` in the client "${client}".`;
  const [provider, model] =
    client === undefined ? ['openai', 'gpt-4o'] : [client.slice(0, slash), client.slice(slash + 1)];
  const block = `client<llm> WithRetries { provider ${provider}, retry_policy ${name}, options { model "${model}" } }`;
  return `Clients have it: declare \`${block}\`, and write \`client WithRetries\` here.`;
}
