import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { copySamples, inEmptyDirectory, svc, timeless } from './command-line.ts';

inEmptyDirectory();

const CLIENTS = `
client<llm> Good {
  provider offline
  options { reply "{\\"name\\": \\"Ada\\", \\"age\\": 30}" }
}
client<llm> Bad {
  provider offline
  options { reply "no idea" }
}
client<llm> Young {
  provider offline
  options { reply "{\\"name\\": \\"Bob\\", \\"age\\": 3}" }
}
`;

const PEOPLE = `
class Person {
  name string
  age int @check(adult, {{ this >= 18 }})
}
function Read(text: string) -> Person {
  client Good
  prompt #"
    {{ _.role("system") }}
    Read the person.
    {{ _.role("user") }}
    {{ text }}
    {{ ctx.output_format }}
  "#
}
function Greet(text: string) -> string {
  client Good
  prompt #"{{ text }}"#
}
function Untested(text: string) -> string {
  client Good
  prompt #"{{ text }}"#
}
test Simple {
  functions [Read]
  args { text "Ada, 30" }
  @@assert(name, {{ this.name == "Ada" }})
}
test Both {
  functions [Read, Greet]
  args { text "Ada, 30" }
}
`;

function write(files: Readonly<Record<string, string>>): void {
  mkdirSync('svc_src', { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(`svc_src/${name}`, text);
}

function definitions(tests = ''): void {
  write({ 'clients.svc': CLIENTS, 'people.svc': PEOPLE + tests });
}

test('the samples pass, and every function has a test', async () => {
  copySamples();
  const ended = await svc('test');
  expect(ended).toMatchObject({ code: 0, error: '' });
  expect(timeless(ended)).toMatch(/^(?:pass \w+::\w+  0 ms\n)+\n\d+ tests: \d+ passed, 0 failed, in 0 ms\n$/u);
});

test('a test runs once for each of its functions, and functions without a test are listed', async () => {
  definitions();
  const ended = await svc('test');
  expect(timeless(ended)).toBe(
    `pass Read::Simple  0 ms
pass Read::Both  0 ms
pass Greet::Both  0 ms

3 tests: 3 passed, 0 failed, in 0 ms
1 of 3 functions without a test: Untested
`,
  );
  expect(ended).toMatchObject({ code: 0, error: '' });
});

test('checks of types that a value fails are reported, and fail no test', async () => {
  definitions();
  const passing = await svc('test', '--client', 'Young', '-i', 'Read::Both', '--format', 'json');
  expect(passing).toMatchObject({ code: 0 });
  const failedCheck = { path: 'age', name: 'adult', expression: 'this >= 18' };
  expect(JSON.parse(passing.out)).toMatchObject({
    functions_without_test: ['Untested'],
    tests: [{ file: 'svc_src/people.svc', line: 29, passed_runs: 1, runs: [{ failed_checks: [failedCheck] }] }],
  });
  expect(passing.out).not.toContain('"prompt"');
  const failing = await svc('test', '--client', 'Young', '-i', 'Read::Simple');
  expect(failing.code).toBe(1);
  expect(failing.out).toContain('The value fails the check "adult" at age: this >= 18');
});

test('a check of a test fails it, unless --allow-failed-checks is set', async () => {
  definitions('test Old {\n  functions [Read]\n  args { text "a" }\n  @@check(old, {{ this.age > 40 }})\n}\n');
  expect(await svc('test', '--name', 'Old')).toMatchObject({ code: 1 });
  const ended = await svc('test', '--name', 'Old', '--allow-failed-checks');
  expect(ended.code).toBe(0);
  expect(timeless(ended)).toContain('pass Read::Old  0 ms  1 check failed\n');
});

test.each([
  ['args { txt "a" }', 'The arguments do not fit the function "Read".'],
  ['args { text env.NOT_SET }', 'The arguments read env.NOT_SET, but NOT_SET is not set. Set it, or add it to .env.'],
  ['args { text Long("a") }', 'svc cannot read the argument "text" of this test. Run "svc check" for the reason.'],
  ['args { text "a" }\n  @@assert({{ this. }})', 'svc cannot read a condition of this test.'],
])('a test with %s cannot run, and fails', async (body, message) => {
  definitions(`test Broken {\n  functions [Read]\n  ${body}\n}\n`);
  const { code, out } = await svc('test', '--name', 'Broken');
  expect(code).toBe(1);
  expect(out).toContain(message);
});

test.each([
  ['functions [Raed]', 'There is no function "Raed". Did you mean "Read"?'],
  ['', 'The test names no function. Add `functions [Name]`.'],
])('a test with "%s" fails', async (functions, message) => {
  definitions(`test Broken {\n  ${functions}\n  args { text "a" }\n}\n`);
  const { code, out } = await svc('test', '--name', 'Broken');
  expect(code).toBe(1);
  expect(out).toContain(message);
});

test('a test with a type_builder sees its own types', async () => {
  write({
    'main.svc': `
client<llm> Extended {
  provider offline
  options { reply "{\\"name\\": \\"Ada\\", \\"mood\\": \\"Glad\\"}" }
}
class Person {
  name string
  @@dynamic
}
function Read(text: string) -> Person {
  client Extended
  prompt #"{{ text }} {{ ctx.output_format }}"#
}
test Plain {
  functions [Read]
  args { text "a" }
  @@assert({{ this.mood is undefined }})
}
test Dynamic {
  functions [Read]
  type_builder {
    enum Mood {
      Glad
      Sad
    }
    dynamic class Person {
      mood Mood
    }
  }
  args { text "a" }
  @@assert({{ this.mood == "Glad" }})
}
test Wrong {
  functions [Read]
  type_builder {
    dynamic class Person {
      mood Moood
    }
  }
  args { text "a" }
}
`,
  });
  const ended = await svc('test');
  expect(timeless(ended)).toMatch(/^pass Read::Plain .*\npass Read::Dynamic .*\nFAIL Read::Wrong\n/u);
  expect(ended.out).toContain('The type_builder of the test has errors. There is no type "Moood"');
});

test('the problems of the definitions are reported, and errors prevent the tests', async () => {
  definitions('class {');
  const ended = await svc('test');
  expect(ended).toMatchObject({ code: 2, out: '' });
  expect(ended.error).toContain('svc_src/people.svc:33');
  expect(ended.error).toMatch(/svc: no test ran\. 2 files: \d errors?/u);
});

test('mistakes in a test are warnings, and the test runs', async () => {
  definitions('test Typo {\n  functions [Read]\n  args { text "a" }\n  @@assert({{ this.nam == "Ada" }})\n}\n');
  const ended = await svc('test', '--name', 'Typo');
  expect(ended.code).toBe(1);
  expect(ended.error).toContain('There is no "nam" in class "Person"');
});

test.each([
  [['--name', 'Nothing'], 'found no tests: none of the 2 in the definitions is selected. "svc test --list" lists them'],
  [['--client', 'Goood'], '--client: there is no client "Goood". Did you mean "Good"?'],
  [['--replay', 'gone'], '--replay: "gone" does not exist'],
  [['--record', 'svc_src/people.svc'], '--record: "svc_src/people.svc" cannot be written'],
  [['nowhere.svc'], '"nowhere.svc" does not exist'],
  [['--parallel', '0'], '--parallel is "0", but must be a whole number from 1 to 1000.'],
  [['--pass-rate', '2'], 'must be a share such as 25% or 0.25'],
  [['--format', 'xml'], 'must be one of pretty, json, junit'],
  [['--record', 'a', '--replay', 'a'], 'option "--record <dir>" cannot be used with option "--replay <dir>"'],
])('"svc test %j" ends with 2: %s', async (args, message) => {
  definitions();
  const { code, out, error } = await svc('test', ...args);
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(error).toContain(message);
  expect(error).toMatch(/^svc: [^\n]+\n$/u);
});

test('definitions without tests end with 2, or with 0 if that is allowed', async () => {
  write({ 'clients.svc': CLIENTS });
  expect(await svc('test')).toEqual({
    code: 2,
    out: '',
    error: 'svc: found no tests: the definitions contain no test block\n',
  });
  expect(await svc('test', '--pass-if-no-tests')).toMatchObject({ code: 0 });
  expect(await svc('test', 'svc_src/gone')).toMatchObject({ code: 2 });
});

async function listed(...args: readonly string[]): Promise<string> {
  return (await svc('test', '--list', ...args)).out;
}

test('tests are selected by function, name, pattern and file, and --list lists them', async () => {
  write({
    'clients.svc': CLIENTS,
    'people.svc': PEOPLE,
    'more.svc': 'test More {\n  functions [Greet]\n  args { text "a" }\n}\n',
  });
  expect(await listed()).toBe(
    'Greet::More  svc_src/more.svc:1\nRead::Simple  svc_src/people.svc:24\nRead::Both  svc_src/people.svc:29\nGreet::Both  svc_src/people.svc:29\n',
  );
  expect(await listed('--function', 'Gr*')).toBe(
    'Greet::More  svc_src/more.svc:1\nGreet::Both  svc_src/people.svc:29\n',
  );
  expect(await listed('--name', 'Simple', '--name', 'More')).toMatch(/^Greet::More .*\nRead::Simple .*\n$/u);
  expect(await listed('-i', 'Read::', '-x', '::Both')).toMatch(/^Read::Simple .*\n$/u);
  expect(await listed('svc_src/more.svc')).toMatch(/^Greet::More .*\n$/u);
  expect(await svc('test', '-x', '*')).toMatchObject({ code: 2 });
});

test('several clients are compared in a table', async () => {
  definitions();
  const ended = await svc('test', '--function', 'Read', '--client', 'Good', '--client', 'Young', '--repeat', '2');
  expect(ended.code).toBe(1);
  const table = timeless(ended).split('\n\n').at(-2) ?? '';
  // The widths of the columns depend on the times.
  expect(table.split('\n').map((line) => line.split(/ {2,}/u))).toEqual([
    ['', 'Good', 'Young'],
    ['Read::Simple', 'pass 2/2 0 ms', 'FAIL 0/2 0 ms'],
    ['Read::Both', 'pass 2/2 0 ms', 'pass 2/2 0 ms'],
    ['passed', '2 of 2', '1 of 2'],
    ['mean latency', '0 ms', '0 ms'],
    ['tokens in, out', '-, -', '-, -'],
  ]);
});

test('--out writes the report to a file, and a pretty one to the terminal', async () => {
  definitions();
  const ended = await svc('test', '--format', 'junit', '--out', 'report.xml');
  expect(timeless(ended)).toContain('3 tests: 3 passed, 0 failed, in 0 ms\n');
  expect(readFileSync('report.xml', 'utf8')).toMatch(
    /^<\?xml version="1\.0" encoding="UTF-8"\?>\n<testsuites .*tests="3" failures="0"/u,
  );
});

test('recorded replies need no client, and a changed prompt is not recorded', async () => {
  definitions();
  expect(await svc('test', '--function', 'Read', '--record', 'replies')).toMatchObject({ code: 0 });
  // Both tests have the same prompt.
  expect(readdirSync('replies')).toHaveLength(1);
  const withKey = 'client<llm> Good {\n  provider openai\n  options { model m, api_key env.NO_SUCH_KEY }\n}\n';
  write({ 'clients.svc': withKey, 'people.svc': PEOPLE });
  expect(await svc('test', '--function', 'Read')).toMatchObject({ code: 1 });
  const replayed = await svc('test', '--function', 'Read', '--replay', 'replies');
  expect(replayed).toMatchObject({ code: 0, error: '' });
  write({ 'people.svc': PEOPLE.replace('Read the person.', 'Read it.') });
  const changed = await svc('test', '--function', 'Read', '--replay', 'replies');
  expect(changed.code).toBe(1);
  expect(changed.out).toContain(
    'Not recorded: the prompt of the function "Read" with the client "Good" is not one of those in "replies"',
  );
  expect(changed.out).toContain('Read it.');
});
