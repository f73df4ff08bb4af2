import { afterAll, expect, test } from 'vitest';
import { runSvc, startServer, temporaryFolder, type RunningServer } from '../support/running-server.ts';

const generator = (version: string): string => `
generator target {
    output_type "typescript"
    output_dir ../
    version "${version}"
    default_client_mode async
    on_generate npx prettier --write .
    made_up_key "x"
}
`;

const MAIN = `
client<llm> Off {
  provider offline
}
class Ticket {
  title string
  @@dynamic
}
template_string Long(name: string) #"{{ name }}, London"#
function Sort(ticket: Ticket, notes: string[]) -> string {
  client Off
  prompt #"{{ ticket }} {{ notes }}"#
}
function Shorten(text: string) -> string {
  client Off
  prompt #"{{ text }}"#
}
`;

const LARGE = 20;
const TESTS = `
test Old() {
  functions [Shorten]
  input "a"
}
test Called {
  functions [Shorten]
  args { text: Long("Ada") }
}
test OneLine { functions [Shorten] args { text "short" } @@assert({{ this }}) }
test OneLine {
  functions [Shorten]
  args { text "another test of that name" }
}
test Extended {
  functions [Sort]
  type_builder {
    dynamic class Ticket {
      urgency int @nonsense
    }
    client<llm> No { provider nope }
  }
  args {
    ticket { title "a", urgency 3 }
    notes ["b", #"c "d""#]
  }
}
${Array.from({ length: LARGE }, (_, at) => `test Large${at} {\n  functions [Shorten]\n  args {\n    text #"${`word${at} `.repeat(3000)}"#\n  }\n}\n`).join('')}
`;

interface Document {
  readonly paths: Readonly<Record<string, { readonly post?: Operation }>>;
  readonly components: { readonly examples: Readonly<Record<string, { readonly value: unknown }>> };
}
interface Operation {
  readonly requestBody: {
    readonly content: {
      readonly 'application/json': { readonly examples?: Readonly<Record<string, { readonly $ref: string }>> };
    };
  };
}

const servers: RunningServer[] = [];
afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop('SIGKILL')));
});

test('generators, tests and a type_builder of BAML do not keep svc from serving, and calls accept the examples', async () => {
  const files = { 'generators.baml': generator('0.226.2'), 'main.baml': MAIN, 'tests/all.baml': TESTS };
  const server = await startServer({ from: temporaryFolder(files), flags: ['--workers', '1'] });
  servers.push(server);
  const text = await (await fetch(`${server.url}/openapi.json`)).text();
  const { paths, components } = JSON.parse(text) as Document;
  expect(Object.keys(components.examples)).toHaveLength(3 + LARGE);
  expect(text.length).toBeLessThan(LARGE * 4096 + 60_000);
  const used = new Set<string>();
  for (const [path, { post }] of Object.entries(paths)) {
    const examples = post?.requestBody.content['application/json'].examples ?? {};
    for (const { $ref: reference } of Object.values(examples)) {
      const name = reference.replace('#/components/examples/', '');
      used.add(name);
      if (!path.startsWith('/call/')) continue;
      const body = JSON.stringify(components.examples[name]?.value);
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(server.url + path, { method: 'POST', headers, body });
      expect(answer.status, `${path} ${name}: ${await answer.text()}`).toBe(200);
    }
  }
  expect([...used].toSorted()).toEqual(Object.keys(components.examples).toSorted());
});

test('a generator that requires another version of BAML keeps svc from starting, unless the version check is off', async () => {
  const from = temporaryFolder({ 'generators.baml': generator('1.2.0'), 'main.baml': MAIN });
  const run = await runSvc(['serve', '--from', from, '--port', '0', '--no-dotenv']);
  expect(run.code).toBe(1);
  expect(run.stderr).toContain('asks for version 1.2.0 of BAML');
  const server = await startServer({ from, flags: ['--workers', '1', '--no-version-check'] });
  servers.push(server);
  expect((await fetch(`${server.url}/_debug/ping`)).status).toBe(200);
});
