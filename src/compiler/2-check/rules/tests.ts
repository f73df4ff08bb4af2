import { didYouMean } from '../../../base/suggestion.ts';
import type { FunctionNode, TestNode, TypeNode } from '../../1-parse/syntax-nodes.ts';
import type { CheckContext, Rule } from '../check-context.ts';
import { entryValue, listItems, stringOf } from '../node-values.ts';
import { argumentMismatch } from '../value-mismatch.ts';

/** Tests name functions, and give arguments that match. The server runs no tests, so a mistake is a warning. */
export const tests: Rule = (context) => {
  for (const test of context.scope.tests) {
    const functions = entryValue(test.entries, 'functions');
    const items = listItems(functions);
    const isMisspelt = test.entries.some(({ key }) => didYouMean(key.text, ['functions']) !== '');
    if (items.length === 0 && (functions !== undefined || !isMisspelt))
      context.report('check/no-tested-function', test.name.span, { name: test.name.text });
    for (const item of items) {
      const name = stringOf(item);
      const node = name === undefined ? undefined : context.scope.functions.get(name);
      if (node !== undefined) checkArguments(context, test, node);
      else if (item.kind !== 'broken' && test.broken !== true) reportUnknown(context, item.span, name ?? '');
    }
  }
};

function reportUnknown({ scope, report, suggest }: CheckContext, span: TypeNode['span'], name: string): void {
  // A workflow function exists, although svc does not serve it.
  if (scope.workflows.has(name)) return;
  report('check/unknown-tested-function', span, { name, suggestion: suggest(name, scope.functions.keys()) });
}

function checkArguments({ scope, report, suggest }: CheckContext, test: TestNode, node: FunctionNode): void {
  // An argument can be in the unreadable part of a test.
  const isComplete = test.broken !== true;
  const owner = `function "${node.name.text}"`;
  const args = entryValue(test.entries, 'args');
  const entries = args?.kind === 'map' ? args.entries : [];
  const names = node.parameters.map((parameter) => parameter.name.text);
  for (const entry of entries) {
    const { key } = entry;
    if (names.includes(key.text)) {
      // A `type_builder` can add to any type.
      const mismatch = test.types.length === 0 ? argumentMismatch(entry, node, scope) : undefined;
      const params = { name: key.text, owner, expected: mismatch?.expected ?? '' };
      if (mismatch !== undefined) report('check/test-argument-type', mismatch.span, params);
      continue;
    }
    const suggestion = suggest(key.text, names);
    report('check/unknown-test-argument', key.span, { name: key.text, owner, suggestion });
  }
  for (const parameter of isComplete ? node.parameters : []) {
    const given = entries.some((entry) => entry.key.text === parameter.name.text);
    if (given || isOptional(parameter.type)) continue;
    report('check/missing-test-argument', test.name.span, { name: parameter.name.text, owner });
  }
}

/** Returns whether a parameter is optional as written; does not resolve aliases. */
function isOptional(type: TypeNode | undefined): boolean {
  if (type === undefined || type.kind === 'optional') return true;
  if (type.kind === 'union') return type.members.some(isOptional);
  return type.kind === 'name' && type.name === 'null';
}
