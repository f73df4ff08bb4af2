import { expect, test } from 'vitest';
import { renderPrompt } from './sample-program.ts';

const DEFINITIONS = `
enum Role {
  User @alias("user")
  Assistant @alias("assistant")
}

class Turn {
  role Role
  text string
}
`;

test('a role can be a value of an enum, by its alias', () => {
  const turns = [
    { role: 'User', text: 'A' },
    { role: 'Assistant', text: 'B' },
  ];
  const setup = { definitions: DEFINITIONS, parameters: 'turns: Turn[]', args: { turns } };
  expect(renderPrompt('{% for t in turns %}{{ _.role(t.role) }}{{ t.text }}{% endfor %}', setup)).toEqual([
    { role: 'user', parts: [{ kind: 'text', text: 'A' }] },
    { role: 'assistant', parts: [{ kind: 'text', text: 'B' }] },
  ]);
});

test.each(['1', 'none', '["user"]'])('%s is not a role', (role) => {
  expect(renderPrompt(`{{ _.role(${role}) }}`)).toContain('the role must be a string or a value of an enum');
});
