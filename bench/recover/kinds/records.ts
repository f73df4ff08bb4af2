import { group, isObject, type Kind } from '../kind.ts';

const isNested: Kind['fits'] = (subject) => isObject(subject);

/** Objects as keys with values in other notations. Values with nulls and labels are left out where their spelling would be a guess. */
export const RECORDS = group('keys and records', {
  'a tool call around the object': {
    fits: isNested,
    damage: (draw) => `{"name": "save_result", "arguments": ${draw.write({})}}`,
  },
});
