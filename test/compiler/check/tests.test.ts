import { expect, test } from 'vitest';
import { compile, compileForTest, type CompileResult } from '../../../src/compiler/compile.ts';
import { SourceFile } from '../../../src/diagnostics/source-file.ts';
import { OPTIONS } from './sample-files.ts';

const FUNCTIONS = `
class Person {
  name string
  @@dynamic
}
enum Mood {
  Glad
  @@dynamic
}
function Ask(text: string, tags: string[]?) -> Person {
  client "openai/gpt-4o-mini"
  prompt #"{{ text }} {{ tags }} {{ ctx.output_format }}"#
}
`;

function compiled(text: string): CompileResult {
  return compile([new SourceFile('main.svc', FUNCTIONS + text)], OPTIONS);
}

test('a test has its functions, arguments and conditions', () => {
  const { tests } = compiled(`
test Full {
  functions [Ask, Ask, Unknown]
  args {
    text env.TEXT
    tags [a, "b"]
  }
  @@check(named, {{ this.name != "" }})
  @@assert({{ _.checks.named }})
}`);
  expect(tests).toMatchObject([
    {
      name: 'Full',
      functions: ['Ask', 'Unknown'],
      buildsTypes: false,
      args: [
        { key: 'text', value: { kind: 'env', variable: 'TEXT' } },
        { key: 'tags', value: { kind: 'list', items: [{ value: 'a' }, { value: 'b' }] } },
      ],
      constraints: [
        { level: 'check', label: 'named', source: 'this.name != ""' },
        { level: 'assert', source: '_.checks.named' },
      ],
    },
  ]);
  expect(tests[0]).not.toHaveProperty('unreadable');
});

test.each([
  ['args { text Long("a") }', 'the argument "text"'],
  ['args { text "a" tags [Long()] }', 'the argument "tags"'],
  ['args { text {{ "a" }} }', 'the argument "text"'],
  ['args "a"', '"args"'],
  ['args { text "a" }\n  @@assert({{ this = 1 }})', 'a condition'],
  ['args { text "a" }\n  @@assert()', 'a condition'],
])('a test with "%s" is incomplete: svc cannot read %s', (body, unreadable) => {
  const { tests, program } = compiled(`test T {\n  functions [Ask]\n  ${body}\n}`);
  expect(program).toBeDefined();
  expect(tests).toMatchObject([{ name: 'T', unreadable }]);
});

const EXTENDED = `
test Extended {
  functions [Ask]
  type_builder {
    class Job {
      title string
    }
    dynamic class Person {
      job Job
      mood Mood
    }
    dynamic enum Mood {
      Sad
    }
  }
  args { text "a" }
}
test Wrong {
  functions [Ask]
  type_builder {
    dynamic class Person {
      name int
      job Jib
    }
  }
  args { text "a" }
}
`;

test('a test with a type_builder has its own program; that of the others stays as it is', () => {
  const { program, tests } = compiled(EXTENDED);
  expect(tests.map(({ buildsTypes }) => buildsTypes)).toEqual([true, true]);
  expect(program?.classes).toMatchObject([{ name: 'Person', fields: [{ name: 'name' }] }]);
  const files = [new SourceFile('main.svc', FUNCTIONS + EXTENDED)];
  const own = tests[0] && compileForTest(files, OPTIONS, tests[0]);
  expect(own?.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  expect(own?.program?.classes).toMatchObject([
    { name: 'Person', fields: [{ name: 'name' }, { name: 'job' }, { name: 'mood' }] },
    { name: 'Job', fields: [{ name: 'title' }] },
  ]);
  expect(own?.program?.enums).toMatchObject([{ name: 'Mood', values: [{ name: 'Glad' }, { name: 'Sad' }] }]);
});

test('mistakes in a type_builder are errors of the program of its test', () => {
  const { tests } = compiled(EXTENDED);
  const own = tests[1] && compileForTest([new SourceFile('main.svc', FUNCTIONS + EXTENDED)], OPTIONS, tests[1]);
  expect(own?.program).toBeUndefined();
  expect(own?.diagnostics.map(({ code, severity }) => `${severity} ${code}`)).toEqual(
    expect.arrayContaining(['error check/duplicate-field', 'error check/unknown-type']),
  );
});
