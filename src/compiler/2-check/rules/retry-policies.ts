import { didYouMeanOneOf } from '../../../base/suggestion.ts';
import { readRetryPolicy } from '../../../schema/providers/retry-policy.ts';
import type { OptionViolation } from '../../../schema/providers/option-shapes.ts';
import type { RetryPolicyNode } from '../../1-parse/syntax-nodes.ts';
import type { CheckContext, Rule } from '../check-context.ts';
import { entryValue, stringOf, entryData, siteOf } from '../node-values.ts';

/** More retries than this are rarely intended: with the usual pauses they take minutes. */
const MANY = 20;

/** The keys that have no effect without a number. */
const COUNTLESS = new Set(['strategy', 'statuses', 'options']);

/** A retry policy has numbers with which a retried call ends, and a client that uses it. */
export const retryPolicies: Rule = (context) => {
  const used = new Set(
    [...context.scope.clients.values()].map((node) => stringOf(entryValue(node.entries, 'retry_policy'))),
  );
  for (const node of context.scope.retryPolicies.values()) {
    checkPolicy(context, node);
    if (!used.has(node.name.text))
      context.report('check/unused-retry-policy', node.name.span, { name: node.name.text });
  }
};

function checkPolicy(context: CheckContext, node: RetryPolicyNode): void {
  const { violations } = readRetryPolicy(entryData(node.entries));
  for (const violation of violations) reportViolation(context, node, violation);
  const count = entryValue(node.entries, 'max_retries');
  if (count === undefined && node.broken !== true && node.entries.every(({ key }) => COUNTLESS.has(key.text))) {
    // A policy can contain only `on_invalid_reply`. A key that no policy has gets its own diagnostic, and is probably a misspelling.
    const owner = `retry policy "${node.name.text}"`;
    context.report('check/missing-key', node.name.span, { name: 'max_retries', owner, example: 'max_retries 3' });
  }
  if (count?.kind === 'number' && count.value > MANY && violations.every(({ path }) => path[0] !== 'max_retries')) {
    context.report('check/many-retries', count.span, { count: count.value });
  }
}

function reportViolation({ report }: CheckContext, node: RetryPolicyNode, violation: OptionViolation): void {
  const site = siteOf(node.entries, violation);
  if (site === undefined) return;
  const { name, span } = site;
  if (violation.kind !== 'unknown') {
    report('check/option-value', span, { name, problem: violation.message });
    return;
  }
  const suggestion = didYouMeanOneOf(name, violation.known);
  report('check/unused-option', span, { name, owner: 'a retry strategy', suggestion });
}
