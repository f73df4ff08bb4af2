import { didYouMean } from '../../../base/suggestion.ts';
import type { RetryPolicyNode, ValueNode } from '../../1-parse/syntax-nodes.ts';
import { textOf, valueOf } from '../build/text-of.ts';
import type { CheckContext, Rule } from '../check-context.ts';
import { COUNT, NUMBER, oneOf, SETTINGS, type ValueShape } from '../value-shapes.ts';

/** More attempts than this are hardly meant: with the usual pauses they take minutes. */
const MANY = 20;

const STRATEGY_SHAPES: Readonly<Record<string, ValueShape>> = {
  type: oneOf(['constant_delay', 'exponential_backoff']),
  delay_ms: COUNT,
  multiplier: NUMBER,
  max_delay_ms: COUNT,
};
const KEYS = new Set(['max_retries', 'strategy', 'statuses', 'options']);
const STATUSES: ValueShape = {
  expected: 'a list of statuses from 400 to 599',
  fits: (value) => value.kind === 'list' && value.items.every(isStatus),
};

/** Numbers that would only fail, or never end, when a call is retried. */
export const retryPolicies: Rule = (context) => {
  const used = new Set(
    [...context.scope.clients.values()].map((node) => textOf(valueOf(node.entries, 'retry_policy'))),
  );
  for (const node of context.scope.retryPolicies.values()) {
    checkCount(context, node);
    checkShape(context, 'strategy', valueOf(node.entries, 'strategy'), SETTINGS);
    checkShape(context, 'statuses', valueOf(node.entries, 'statuses'), STATUSES);
    checkStrategy(context, valueOf(node.entries, 'strategy'));
    if (!used.has(node.name.text))
      context.report('check/unused-retry-policy', node.name.span, { name: node.name.text });
  }
};

function checkCount(context: CheckContext, node: RetryPolicyNode): void {
  const value = valueOf(node.entries, 'max_retries');
  // An unknown key has its own diagnostic, and is probably this one.
  if (node.broken !== true && value === undefined && !node.entries.some(({ key }) => !KEYS.has(key.text))) {
    const owner = `retry policy "${node.name.text}"`;
    context.report('check/missing-key', node.name.span, { name: 'max_retries', owner, example: 'max_retries 3' });
  }
  checkShape(context, 'max_retries', value, { ...COUNT, fits: (each) => each.kind === 'number' && COUNT.fits(each) });
  if (value?.kind === 'number' && value.value > MANY && COUNT.fits(value)) {
    context.report('check/many-retries', value.span, { count: value.value });
  }
}

function checkStrategy(context: CheckContext, strategy: ValueNode | undefined): void {
  if (strategy?.kind !== 'map') return;
  for (const { key, value } of strategy.entries) {
    const shape = Object.hasOwn(STRATEGY_SHAPES, key.text) ? STRATEGY_SHAPES[key.text] : undefined;
    if (shape !== undefined) checkShape(context, key.text, value, shape);
    else {
      const owner = 'A retry strategy';
      const suggestion = didYouMean(key.text, Object.keys(STRATEGY_SHAPES));
      context.report('check/unknown-option', key.span, { name: key.text, owner, suggestion });
    }
  }
}

function checkShape({ report }: CheckContext, name: string, value: ValueNode | undefined, shape: ValueShape): void {
  if (value === undefined || value.kind === 'broken' || shape.fits(value)) return;
  report('check/option-value', value.span, { name, expected: shape.expected });
}

function isStatus(value: ValueNode): boolean {
  return value.kind === 'number' && Number.isInteger(value.value) && value.value >= 400 && value.value <= 599;
}
