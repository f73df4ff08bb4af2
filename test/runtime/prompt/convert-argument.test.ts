import { expect, test } from 'vitest';
import { indexDefinitions } from '../../../src/schema/program.ts';
import type { Type } from '../../../src/schema/type.ts';
import { ArgumentConverter } from '../../../src/runtime/prompt/convert-argument.ts';
import {
  alias,
  aliasRef,
  classRef,
  classType,
  field,
  float,
  list,
  literal,
  map,
  optional,
  programOf,
  string,
  union,
} from '../../support/definitions.ts';

const index = indexDefinitions(
  programOf({
    classes: [
      classType('Add', [field('kind', literal('add')), field('left', aliasRef('Tree'))]),
      classType('Leaf', [field('kind', literal('leaf')), field('value', float)]),
      classType('Plain', [field('value', optional(float))]),
    ],
    aliases: [
      alias('Json', union(string, float, list(aliasRef('Json')), map(string, aliasRef('Json')))),
      alias('Tree', union(classRef('Add'), classRef('Leaf'), list(aliasRef('Tree')))),
    ],
  }),
);

/** The types that the converter has the validators check. */
function askedFor(type: Type, value: unknown): readonly Type[] {
  const asked: Type[] = [];
  new ArgumentConverter(index).convertTo(type)(value, (one) => asked.push(one) > 0);
  return asked;
}

test('an object or list that only one member of a union can be is converted without a check', () => {
  expect(askedFor(aliasRef('Json'), [[{ a: [] }]])).toEqual([]);
  expect(askedFor(aliasRef('Tree'), [{ kind: 'add', left: [{ kind: 'leaf', value: 1 }] }])).toEqual([]);
});

test('where several members are possible, the validators decide', () => {
  expect(askedFor(union(classRef('Plain'), classRef('Add')), { kind: 'add', left: [] })).toEqual([classRef('Plain')]);
  expect(askedFor(union(string, float), 1)).toEqual([string]);
});
