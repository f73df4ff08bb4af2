/** The type of the replies. */
export const PARSE_DEFINITIONS = `
enum Level {
  JUNIOR
  SENIOR
  LEAD
}
class Job {
  company string
  title string
  years int
  remote bool
}
class Person {
  name string
  email string?
  level Level
  score float
  skills string[]
  jobs Job[]
}
class Team {
  people Person[]
}
client<llm> Any {
  provider openai
  options {
    model any
    api_key "none"
  }
}
function Extract(text: string) -> Team {
  client Any
  prompt #"{{ text }} {{ ctx.output_format }}"#
}
`;

export interface Team {
  readonly people: readonly object[];
}

export type Spelling = 'clean' | 'pretty' | 'fenced' | 'broken';
export const SPELLINGS: readonly Spelling[] = ['clean', 'pretty', 'fenced', 'broken'];

/** Creates a value whose clean spelling has about this many bytes. */
export function makeTeam(bytes: number): Team {
  const people: object[] = [];
  for (let index = 0, length = 0; length < bytes; index += 1) {
    const person = makePerson(index);
    people.push(person);
    length += JSON.stringify(person).length + 1;
  }
  return { people };
}

function makePerson(index: number): object {
  return {
    name: `Person number ${index}`,
    email: index % 3 === 0 ? null : `person${index}@example.com`,
    level: ['JUNIOR', 'SENIOR', 'LEAD'][index % 3],
    score: index / 8,
    skills: ['TypeScript', `skill ${index}`, 'writing "plain" words'],
    jobs: [{ company: 'Example and sons', title: 'Engineer', years: index % 40, remote: index % 2 === 0 }],
  };
}

/** Writes the value in one of the ways of models. */
export function spell(team: Team, spelling: Spelling): string {
  if (spelling === 'clean') return JSON.stringify(team);
  const pretty = JSON.stringify(team, undefined, 2);
  if (spelling === 'pretty') return pretty;
  if (spelling === 'fenced') return `Here it is:\n\`\`\`json\n${pretty}\n\`\`\`\nDone.`;
  return broken(pretty);
}

/** A fence, comments, keys without quotes, trailing commas. */
function broken(pretty: string): string {
  const body = pretty
    .replaceAll(/^(\s*)"(\w+)":/gmu, '$1$2:')
    .replaceAll(/\n(\s*)\]/gu, ',\n$1]')
    .replaceAll('jobs:', '// where they worked\n      jobs:');
  return `Here it is:\n\`\`\`json\n${body}\n\`\`\`\n`;
}
