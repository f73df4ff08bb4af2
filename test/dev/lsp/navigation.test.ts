import { expect, test } from 'vitest';
import { definitionsAt, referencesAt, renameAt, renamedAt } from '../../../src/dev/lsp/navigation.ts';
import { uriOf } from '../../../src/dev/lsp/places.ts';
import { applied, at, edited, workspace } from './edited.ts';

const TYPES = `class Person {
  name string
  friends Person[] @check(few, {{ this|length < 9 }})
  mood Mood?
  @@assert(named, {{ this.name != "" }})
}

enum Mood {
  Calm
  Angry @alias("cross")
}

type Group = map<string, Person | Pet>

class Pet {
  name string
}
`;

const FUNCTIONS = `function Describe(person: Person, limit: int) -> Person? {
  client Fast
  prompt #"
    {{ Greeting(who=person.name) }}
    {% for friend in person.friends %}
      {{ friend.name }} {{ friend["mood"] }} {{ limit }}
      {% if friend.mood == "Calm" or friend.mood == Mood.Angry %}calm{% endif %}
    {% endfor %}
    {% set limit2 = limit %}{{ limit2 }}
  "#
}

template_string Greeting(who: string) #"Hello {{ who }}"#
`;

const REST = `client<llm> Fast {
  provider offline
  retry_policy Often
  options {
    replies [{ function "Describe", reply "null" }]
  }
}

client<llm> Turns {
  provider round-robin
  options {
    strategy ["Fast", Fast]
    weights { Fast 2 }
  }
}

retry_policy Often {
  max_retries 1
}

test One {
  functions [Describe]
  args {
    person {
      name "A"
      friends [{ name "B" friends [] mood Calm }]
      mood "Angry"
    }
    limit 3
  }
  @@assert(same, {{ this.name == person.name and _.result.mood != "Angry" }})
}

test Extended {
  functions [Describe]
  type_builder {
    dynamic class Person {
      extra Extra?
    }
    class Extra {
      of Person
    }
  }
  args {
    person { name "C" friends [] extra { of { name "D" friends [] } } }
    limit 1
  }
}
`;

const FILES = { 'functions.svc': FUNCTIONS, 'rest.svc': REST, 'types.svc': TYPES };

/** The cursor at the first place of a text in the sample files, `inside` which a word is meant. */
function cursorAt(name: keyof typeof FILES, word: string, inside = word) {
  const { program } = edited(FILES);
  const around = FILES[name].indexOf(inside);
  expect(around, inside).toBeGreaterThanOrEqual(0);
  return { program, path: at(name), offset: around + inside.indexOf(word) + 1 };
}

/** `file:line` of each place, sorted. */
function lines(
  places: ReadonlyArray<{ readonly uri: string; readonly range: { readonly start: { readonly line: number } } }>,
) {
  return places.map(({ uri, range }) => `${uri.split('/').at(-1)}:${String(range.start.line + 1)}`).toSorted();
}

test('the sample has no errors', () => {
  expect(
    edited(FILES)
      .program.analysis()
      .diagnostics.filter(({ severity }) => severity === 'error'),
  ).toEqual([]);
});

test.each<readonly [string, keyof typeof FILES, string, string, string]>([
  ['the class of a parameter', 'functions.svc', 'Person', 'person: Person', 'types.svc:1'],
  ['a field in a template', 'functions.svc', 'name', 'friend.name', 'types.svc:2'],
  ['a field in a template, by index', 'functions.svc', 'mood', '["mood"]', 'types.svc:4'],
  ['a parameter in a template', 'functions.svc', 'person', 'in person.friends', 'functions.svc:1'],
  ['the variable of a loop', 'functions.svc', 'friend', '{{ friend.name', 'functions.svc:5'],
  ['a variable', 'functions.svc', 'limit2', '{{ limit2', 'functions.svc:9'],
  ['a template_string', 'functions.svc', 'Greeting', '{{ Greeting', 'functions.svc:13'],
  ['a named argument of a template_string', 'functions.svc', 'who', 'who=person', 'functions.svc:13'],
  ['an enum in a template', 'functions.svc', 'Mood', 'Mood.Angry', 'types.svc:8'],
  ['an enum value in a template', 'functions.svc', 'Angry', 'Mood.Angry', 'types.svc:10'],
  ['an enum value in a string that is compared with it', 'functions.svc', 'Calm', '"Calm"', 'types.svc:9'],
  ['a client of a function', 'functions.svc', 'Fast', 'client Fast', 'rest.svc:1'],
  ['a retry policy', 'rest.svc', 'Often', 'retry_policy Often\n  options', 'rest.svc:17'],
  ['a member of a strategy', 'rest.svc', 'Fast', '"Fast"', 'rest.svc:1'],
  ['a weight', 'rest.svc', 'Fast', 'Fast 2', 'rest.svc:1'],
  ['the function of a canned reply', 'rest.svc', 'Describe', '"Describe"', 'functions.svc:1'],
  ['the function of a test', 'rest.svc', 'Describe', '[Describe]', 'functions.svc:1'],
  ['an argument of a test', 'rest.svc', 'limit', 'limit 3', 'functions.svc:1'],
  ['a field in the arguments of a test', 'rest.svc', 'friends', 'friends [{', 'types.svc:3'],
  ['an enum value in the arguments of a test', 'rest.svc', 'Angry', '"Angry"', 'types.svc:10'],
  ['a field in a condition of a test', 'rest.svc', 'name', 'this.name', 'types.svc:2'],
  ['a parameter in a condition of a test', 'rest.svc', 'person', 'person.name and', 'functions.svc:1'],
  ['a class in a type_builder', 'rest.svc', 'Person', 'dynamic class Person', 'types.svc:1'],
  ['a class that a type_builder declares', 'rest.svc', 'Extra', 'Extra?', 'rest.svc:40'],
  ['a field in an alias', 'types.svc', 'Pet', '| Pet', 'types.svc:15'],
  ['a field in a constraint of a class', 'types.svc', 'name', 'this.name', 'types.svc:2'],
])('the definition of %s', (_what, ...[file, word, inside, expected]) => {
  expect(lines(definitionsAt(workspace, cursorAt(file, word, inside)))).toEqual([expected]);
});

test('references are found across files, templates, tests and constraints', () => {
  const cursor = cursorAt('types.svc', 'name', 'name string');
  expect(lines(referencesAt(workspace, cursor, false))).toEqual([
    'functions.svc:4',
    'functions.svc:6',
    'rest.svc:25',
    'rest.svc:26',
    'rest.svc:31',
    'rest.svc:31',
    'rest.svc:45',
    'rest.svc:45',
    'types.svc:5',
  ]);
  expect(lines(referencesAt(workspace, cursor, true))).toContain('types.svc:2');
});

test('a name that means nothing has no definition', () => {
  expect(definitionsAt(workspace, cursorAt('functions.svc', 'endif', 'endif'))).toEqual([]);
});

/** The texts of the changed files after a rename, or why svc refuses it. */
function renamed(cursor: ReturnType<typeof cursorAt>, newName: string): string | Readonly<Record<string, string>> {
  const result = renameAt(workspace, cursor, newName);
  if (!result.ok) return result.failure;
  const changes = Object.entries(result.value.changes ?? {});
  return Object.fromEntries(
    Object.keys(FILES).flatMap((name) => {
      const edits = changes.find(([uri]) => uri === uriOf(at(name)))?.[1];
      return edits === undefined ? [] : [[name, applied(cursor.program, at(name), edits)]];
    }),
  );
}

test.each<readonly [keyof typeof FILES, string, string, string]>([
  ['types.svc', 'Person', 'Person {', 'Human'],
  ['types.svc', 'mood', 'mood Mood', 'feeling'],
  ['types.svc', 'Angry', 'Angry @', 'Furious'],
  ['functions.svc', 'limit', 'limit: int', 'most'],
  ['functions.svc', 'friend', 'for friend', 'other'],
  ['functions.svc', 'who', 'who: string', 'whom'],
  ['functions.svc', 'Greeting', '{{ Greeting', 'Salute'],
  ['rest.svc', 'Fast', '"Fast"', 'Quick'],
  ['rest.svc', 'Often', 'Often {', 'Twice'],
  ['rest.svc', 'Describe', '[Describe]', 'Portray'],
  ['rest.svc', 'One', 'test One', 'First'],
])(
  'after a rename in %s of %s, the program has the same problems and no place has the old name',
  (file, word, inside, newName) => {
    const cursor = cursorAt(file, word, inside);
    const texts = renamed(cursor, newName);
    if (typeof texts === 'string') throw new Error(texts);
    const after = edited({ ...FILES, ...texts }).program;
    const codes = (program: typeof after) => program.analysis().diagnostics.map(({ code }) => code);
    expect(codes(after)).toEqual(codes(cursor.program));
    const before = cursor.program.symbolsAt(cursor.path, cursor.offset)[0]?.symbol;
    const same = after.symbols().filter(({ name, kind }) => name === newName && kind === before?.kind);
    expect(same.map(({ occurrences }) => occurrences.length)).toEqual([before?.occurrences.length]);
  },
);

test('a rename changes quoted names without their quotes, and nothing else', () => {
  const texts = renamed(cursorAt('rest.svc', 'Describe', '[Describe]'), 'Portray');
  expect(texts).toEqual({
    'functions.svc': FUNCTIONS.replaceAll('Describe', 'Portray'),
    'rest.svc': REST.replaceAll('Describe', 'Portray'),
  });
});

test('a rename changes the classes that an output format hoists', () => {
  const text = `class ‸Tree {
  left Tree?
}
function Grow() -> Tree {
  client "openai/x"
  prompt #"{{ ctx.output_format(hoist_classes=["Tree"]) }}"#
}
`;
  expect(renamed(edited({ 'types.svc': text }), 'Plant')).toEqual({
    'types.svc': text.replace('‸', '').replaceAll('Tree', 'Plant'),
  });
});

/** Definitions with these names for two fields and a value of an enum, beside strings that only look like them. */
function guestList(home: string, city: string, calm: string): string {
  return `class Home {
  ${city} string
}
class Guest {
  ${home} Home
}
enum Mood {
  ${calm}
}
function Greet(guests: Guest[], moods: Mood[]) -> string {
  client "openai/x"
  prompt #"
    {{ guests|map(attribute="${home}.${city}")|join(", ") }} {{ guests|sort(attribute="${home}.${city}") }}
    {% for guest in guests|rejectattr("${home}")|groupby("${home}") %}{{ guest }}{% endfor %}
    {{ guests|selectattr("${home}")|map(attribute="${home}") }} {{ "city"|replace("home", "Calm") }}
    {{ "${calm}" in moods }} {{ "Calm" in "Calm" }}
  "#
}
`;
}

test.each([
  ['home', guestList('Plant', 'city', 'Calm')],
  ['city', guestList('home', 'Plant', 'Calm')],
  ['Calm', guestList('home', 'city', 'Plant')],
])('a rename of "%s" changes the strings that name it in filters and lists', (name, expected) => {
  const text = guestList('home', 'city', 'Calm').replace(`  ${name}`, `  ‸${name}`);
  expect(renamed(edited({ 'types.svc': text }), 'Plant')).toEqual({ 'types.svc': expected });
});

test.each(['missing', 'a', 'Colour'])(
  'an error elsewhere with the word "%s" does not keep it from being renamed',
  (name) => {
    const text = `class ‸${name} {
  left ${name}?
}
class Broken {
  a map<string, ${name} | Colour2>
  b int @check(c {{ this }})
}
`;
    const cursor = edited({ 'types.svc': text });
    expect(cursor.program.analysis().diagnostics).not.toEqual([]);
    expect(renamed(cursor, 'Plant')).toHaveProperty(['types.svc'], expect.stringContaining('left Plant?'));
  },
);

test.each<readonly [string, string, string, string, string]>([
  ['a class that exists', 'Person', 'Person {', 'Pet', '"Pet" is declared twice'],
  ['an enum that exists', 'Person', 'Person {', 'Mood', '"Mood" is declared twice'],
  ['a field that exists', 'mood', 'mood Mood', 'name', 'name'],
  ['no identifier', 'Person', 'Person {', 'two words', '"two words" is not a name'],
  ['an empty name', 'Person', 'Person {', '', '"" is not a name'],
  ['a built-in type', 'Person', 'Person {', 'string', 'string'],
])('a rename to %s is refused', (_what, ...[word, inside, newName, reason]) => {
  expect(renamed(cursorAt('types.svc', word, inside), newName)).toContain(reason);
});

test('a rename to a name that another variable would capture is refused', () => {
  const cursor = cursorAt('functions.svc', 'limit', 'limit: int');
  expect(renamed(cursor, 'friend')).toContain('already means something else');
});

test('a place without a name cannot be renamed, and a member of several classes only at its declarations', () => {
  expect(renamedAt(cursorAt('functions.svc', 'prompt', 'prompt #'))).toMatchObject({ ok: false });
  const union = {
    'a.svc': `${TYPES}function F(a: Person | Pet) -> string {\n  client "openai/x"\n  prompt #"{{ a.na‸me }}"#\n}\n`,
  };
  const result = renamedAt(edited(union));
  expect(result).toEqual({ ok: false, failure: expect.stringContaining('"Person" and "Pet"') });
});

test('aliases that name each other do not stop the search', () => {
  const { program, path, offset } = edited({
    'a.svc': `type A = B | int
type B = A | string
type Json = map<string, Json> | string
function F(a: A, json: Json) -> string {
  client "openai/x"
  prompt #"{{ a }} {{ json }}"#
}
test T {
  functions [F]
  args {
    a 1
    js‸on { x { y "z" } }
  }
}
`,
  });
  expect(lines(definitionsAt(workspace, { program, path, offset }))).toEqual(['a.svc:4']);
});
