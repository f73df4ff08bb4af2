import type { TestNode } from '../../1-parse/syntax-nodes.ts';
import { testedFunctions } from '../tested-functions.ts';
import type { Rule } from '../check-context.ts';

/** The tests of one function have different names; tests of different functions may share one. */
export const uniqueTests: Rule = ({ scope, report }) => {
  const seen = new Map<string, TestNode>();
  for (const test of scope.tests) {
    for (const name of testedFunctions(test)) {
      const key = `${name}/${test.name.text}`;
      const first = seen.get(key);
      if (first === undefined) seen.set(key, test);
      else {
        const related = [{ span: first.name.span, message: 'the first one' }];
        report('check/duplicate-test', test.name.span, { name: test.name.text, owner: `function "${name}"` }, related);
      }
    }
  }
};
