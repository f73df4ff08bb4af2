import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { reply, startFakeProvider, status, type FakeProvider } from '../support/fake-provider.ts';
import { PERSON, SIMPLE, personReader } from '../support/person-reader.ts';
import { inEmptyDirectory, svc, timeless } from './command-line.ts';

inEmptyDirectory();

let provider: FakeProvider;
beforeAll(async () => {
  provider = await startFakeProvider();
});
afterAll(() => provider.close());

/** Writes definitions and the key of their client. */
function write(text: string): void {
  mkdirSync('svc_src');
  writeFileSync('svc_src/main.svc', text);
  writeFileSync('.env', 'FAKE_KEY=key-of-this-test-0123456789\n');
}

/** A client whose provider behaves in this way, and a function that uses it. */
function functionWith(name: string, behaviour: Parameters<FakeProvider['at']>[1]): string {
  return `client<llm> ${name} {
  provider openai-generic
  options {
    base_url "${provider.at(name, behaviour)}"
    model m
  }
}
function With${name}(text: string) -> Person {
  client ${name}
  prompt #"Read: {{ text }}{{ ctx.output_format }}"#
}
`;
}

/** Failures of every kind, each with its own client. */
function failing(): string {
  return `class Person {
  name string
  age int
}
client<llm> Locked {
  provider openai
  options { model m }
}
function WithLocked(text: string) -> Person {
  client Locked
  prompt #"Read: {{ text }}{{ ctx.output_format }}"#
}
${functionWith('Good', reply(PERSON))}${functionWith('Broken', status(500, { error: { message: 'out of order' } }))}${functionWith('Silly', reply('I < "you" & me'))}
test Right {
  functions [WithGood]
  args { text "a" }
  @@assert({{ this.name == "Ada" }})
}
test WrongValue {
  functions [WithGood]
  args { text "b" }
  @@assert(bob, {{ this.name == "Bob" }})
}
test FailingAssert {
  functions [WithGood]
  args { text "c" }
  @@assert({{ this.age < 18 and this.name != "" }})
}
test ProviderDown {
  functions [WithBroken]
  args { text "e" }
}
test InvalidReply {
  functions [WithSilly]
  args { text "f" }
}
test MissingKey {
  functions [WithLocked]
  args { text "g" }
}
`;
}

const REPORT = `pass WithGood::Right  0 ms
FAIL WithGood::WrongValue  0 ms
FAIL WithGood::FailingAssert  0 ms
FAIL WithBroken::ProviderDown  0 ms
FAIL WithSilly::InvalidReply  0 ms
FAIL WithLocked::MissingKey

FAIL WithGood::WrongValue  main.svc:52:6
  @@assert(bob) does not hold: this.name == "Bob"
    --> main.svc:55:20
  value: {
    "name": "Ada",
    "age": 36
  }

  prompt
    [system]
    Read: bAnswer in JSON using this schema:
    {
      name: string,
      age: int,
    }

  reply (Good, m, 0 ms, 7 tokens in, 3 tokens out)
    {"name": "Ada", "age": 36}

FAIL WithGood::FailingAssert  main.svc:57:6
  @@assert does not hold: this.age < 18 and this.name != ""
    --> main.svc:60:15
  value: {
    "name": "Ada",
    "age": 36
  }

  prompt
    [system]
    Read: cAnswer in JSON using this schema:
    {
      name: string,
      age: int,
    }

  reply (Good, m, 0 ms, 7 tokens in, 3 tokens out)
    {"name": "Ada", "age": 36}

FAIL WithBroken::ProviderDown  main.svc:62:6
  The client "Broken" answered 500: out of order

  prompt
    [system]
    Read: eAnswer in JSON using this schema:
    {
      name: string,
      age: int,
    }

FAIL WithSilly::InvalidReply  main.svc:66:6
  the reply does not fit the return type: expected Person, got the string "I < \\"you\\" & me"

  prompt
    [system]
    Read: fAnswer in JSON using this schema:
    {
      name: string,
      age: int,
    }

  reply (Silly, m, 0 ms, 7 tokens in, 3 tokens out)
    I < "you" & me

FAIL WithLocked::MissingKey  main.svc:70:6
  The client "Locked" needs an API key or setting from the environment variable OPENAI_API_KEY, which is missing or empty. Set it, or add it to .env.

  prompt
    [system]
    Read: gAnswer in JSON using this schema:
    {
      name: string,
      age: int,
    }

6 tests: 1 passed, 5 failed, in 0 ms
`;

test('failures of every kind are reported for people', async () => {
  writeFileSync('main.svc', failing());
  const ended = await svc('test', 'main.svc');
  expect({ code: ended.code, out: timeless(ended) }).toEqual({ code: 1, out: REPORT });
});

test('failures of every kind are reported as JSON', async () => {
  writeFileSync('main.svc', failing());
  const { code, out } = await svc('test', 'main.svc', '--format', 'json');
  expect(code).toBe(1);
  const { tests, ...summary } = JSON.parse(out) as {
    readonly tests: readonly { readonly runs: readonly object[] }[];
  };
  expect(summary).toMatchObject({ passed: 1, failed: 5, not_run: 0, functions_without_test: [] });
  expect(tests.map(({ runs: [run] }) => run)).toMatchObject([
    { status: 'passed', value: { name: 'Ada', age: 36 }, input_tokens: 7, output_tokens: 3 },
    { status: 'failed', conditions: [{ kind: 'assert', label: 'bob', status: 'failed' }], reply: PERSON },
    { status: 'failed', conditions: [{ kind: 'assert', status: 'failed' }] },
    {
      status: 'error',
      failure: { code: 'client_error' },
      prompt: [{ role: 'system', parts: [{ text: expect.stringMatching(/^Read: e/u) }] }],
    },
    { status: 'failed', failure: { code: 'validation_failure' }, reply: 'I < "you" & me' },
    { status: 'error', failure: { code: 'missing_credential' } },
  ]);
});

const hasPython = spawnSync('python3', ['-c', 'import xml.etree.ElementTree']).status === 0;

interface XmlElement {
  readonly tag: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly text: string;
  readonly children: readonly XmlElement[];
}

/** Reads a document with the XML parser of Python, which is Expat. */
function parseXml(text: string): XmlElement {
  const script = `import sys, json, xml.etree.ElementTree as e
def data(x): return {"tag": x.tag, "attributes": x.attrib, "text": x.text or "", "children": [data(c) for c in x]}
print(json.dumps(data(e.fromstring(sys.stdin.buffer.read()))))`;
  return JSON.parse(execFileSync('python3', ['-c', script], { input: text, encoding: 'utf8' })) as XmlElement;
}

test.skipIf(!hasPython)('failures of every kind are reported as JUnit, which an XML parser reads', async () => {
  writeFileSync('main.svc', failing());
  const { code, out } = await svc('test', 'main.svc', '--format', 'junit');
  expect(code).toBe(1);
  const { tag, attributes, children } = parseXml(out);
  expect(tag).toBe('testsuites');
  expect(attributes).toMatchObject({ tests: '6', failures: '3', errors: '2', skipped: '0' });
  expect(children.map((suite) => [suite.tag, suite.attributes['name'], suite.attributes['tests']])).toEqual([
    ['testsuite', 'WithGood', '3'],
    ['testsuite', 'WithBroken', '1'],
    ['testsuite', 'WithSilly', '1'],
    ['testsuite', 'WithLocked', '1'],
  ]);
  const cases = children.flatMap((suite) => suite.children);
  expect(cases.map((one) => [one.attributes['name'], ...one.children.map((child) => child.tag)])).toEqual([
    ['Right'],
    ['WrongValue', 'failure', 'system-out'],
    ['FailingAssert', 'failure', 'system-out'],
    ['ProviderDown', 'error', 'system-out'],
    ['InvalidReply', 'failure', 'system-out'],
    ['MissingKey', 'error', 'system-out'],
  ]);
  expect(cases[2]).toMatchObject({
    attributes: { classname: 'WithGood', file: 'main.svc', line: '57' },
    children: [
      {
        attributes: {
          message: '@@assert does not hold: this.age < 18 and this.name != ""',
          type: 'condition',
        },
        text: '@@assert does not hold: this.age < 18 and this.name != ""',
      },
      {
        text: 'value\n{\n  "name": "Ada",\n  "age": 36\n}\n\nprompt\n[system]\nRead: cAnswer in JSON using this schema:\n{\n  name: string,\n  age: int,\n}\n\nreply\n{"name": "Ada", "age": 36}',
      },
    ],
  });
  expect(cases[4]?.children[1]?.text).toContain('reply\nI < "you" & me');
  expect(cases[5]?.children[0]?.attributes['type']).toBe('missing_credential');
});

test.skipIf(!hasPython)('a reply with control characters becomes valid XML', async () => {
  write(personReader(provider, 'control', SIMPLE));
  provider.at('control', reply('a\u0000\u0007\u001B[31m]]> \uD83D \uFFFF\r\nb'));
  const { code, out } = await svc('test', '--format', 'junit');
  expect(code).toBe(1);
  expect(parseXml(out).children[0]?.children[0]?.children[1]?.text).toContain(
    'reply\na\u00B7\u00B7\u00B7[31m]]> \uFFFD \uFFFD\nb',
  );
});

test('a reply that was corrected is recorded as the reply to the prompt of the test', async () => {
  const policy = 'retry_policy Correcting {\n  on_invalid_reply 1\n}\n';
  const text = personReader(provider, 'corrected', SIMPLE).replace('options {', 'retry_policy Correcting\n  options {');
  write(policy + text);
  provider.clear();
  provider.script(reply('{"name": "Ada"}'), reply(PERSON));
  expect(await svc('test', '--record', 'replies')).toMatchObject({ code: 0 });
  expect(provider.requests).toHaveLength(2);
  const [file = ''] = readdirSync('replies');
  expect(JSON.parse(readFileSync(join('replies', file), 'utf8'))).toMatchObject({
    replies: [{ text: PERSON, input_tokens: 14, output_tokens: 6 }],
  });
  provider.clear();
  rmSync('.env');
  const replayed = await svc('test', '--replay', 'replies', '--format', 'json');
  expect(replayed).toMatchObject({ code: 0, error: '' });
  expect(provider.requests).toEqual([]);
});

test('repetitions have a pass rate', async () => {
  write(personReader(provider, 'sometimes', SIMPLE));
  const flags = ['test', '--repeat', '4', '--parallel', '1'];
  const behaviours = [reply(PERSON), reply('no'), reply(PERSON), reply(PERSON)];
  provider.script(...behaviours);
  const strict = await svc(...flags);
  expect(strict.code).toBe(1);
  expect(timeless(strict)).toMatch(/^FAIL Read::Simple {2}3 of 4 passed \(75%\) {2}0 ms\n/u);
  provider.script(...behaviours);
  const lenient = await svc(...flags, '--pass-rate', '75%');
  expect(lenient.code).toBe(0);
  expect(timeless(lenient)).toBe(
    'pass Read::Simple  3 of 4 passed (75%)  0 ms\n\n1 test: 1 passed, 0 failed, in 0 ms\n',
  );
  provider.script(...behaviours.map(() => reply('no')));
  expect((await svc(...flags)).out).toContain('0 of 4 passed (0%); the first run that did not:');
});

test('no more than the allowed number of calls run at once', async () => {
  const tests = Array.from({ length: 6 }, (_, at) => `test T${at} {\n  functions [Read]\n  args { text "${at}" }\n}\n`);
  write(personReader(provider, 'parallel', tests.join('')));
  let most = 0;
  provider.at('parallel', async (request, wire) => {
    most = Math.max(most, provider.unanswered);
    await reply(PERSON, { latencyMs: 50 })(request, wire);
  });
  expect(await svc('test', '--parallel', '2')).toMatchObject({ code: 0 });
  expect(most).toBe(2);
});
