import { expect, test } from 'vitest';
import { CLIENT, renderPrompt } from './sample-program.ts';

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

function renamed(prompt: string, remapRoles: Readonly<Record<string, string>>): unknown {
  const messages = renderPrompt(prompt, { client: { ...CLIENT, remapRoles } });
  if (typeof messages === 'string') return messages;
  return messages.map(({ role, parts }) => [
    role,
    ...parts.map((part) => (part.kind === 'text' ? part.text : part.media)),
  ]);
}

test.each<readonly [string, Readonly<Record<string, string>>, readonly (readonly string[])[]]>([
  ['{{ _.role("system") }}Be brief.{{ _.role("user") }}hi', { system: 'user' }, [['user', 'Be brief.', 'hi']]],
  ['first{{ _.role("user") }}hi', { system: 'user' }, [['user', 'first', 'hi']]],
  ['{{ _.role("critic") }}hi', { system: 'developer' }, [['developer', 'hi']]],
  [
    '{{ _.role("user") }}a{{ _.role("assistant") }}b',
    { user: 'assistant', assistant: 'user' },
    [
      ['assistant', 'a'],
      ['user', 'b'],
    ],
  ],
  [
    '{{ _.role("system") }}a{{ _.role("user", __baml_allow_dupe_role__=true) }}b',
    { system: 'user' },
    [
      ['user', 'a'],
      ['user', 'b'],
    ],
  ],
  ['no role', { system: 'user' }, [['system', 'no role']]],
])('roles are renamed before messages are joined: %s', (prompt, remapRoles, messages) => {
  expect(renamed(prompt, remapRoles)).toEqual(messages);
});
