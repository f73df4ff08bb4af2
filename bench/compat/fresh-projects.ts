import { execFile } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { peerCommand } from '../sides.ts';
import { FRESH, type Call, type Project } from './projects.ts';
import { registryFor, registryOf, type MakeRegistry } from './registries.ts';

const FUNCTION = 'ExtractResume';
const RESUME = 'Ada Lovelace\nada@example.com\n\nExperience:\n- Analyst of the Engine\n\nSkills:\n- Mathematics';
const REPLIES = [
  '{"name": "Ada Lovelace", "email": "ada@example.com", "experience": ["Analyst of the Engine"], "skills": ["Mathematics"]}',
  'Here is the resume:\n```json\n{\n  name: "Ada Lovelace",\n  email: ada@example.com, // as written\n  experience: ["Analyst of the Engine",],\n  skills: Mathematics\n}\n```\nAnything else?',
  'I found no resume.',
] as const;

/** Clients that call other clients; they have no address of their own. */
const STRATEGIES = new Set(['fallback', 'round-robin']);

/**
 * Makes a project of each client type that `baml-cli init` offers, and one with the example clients, which its client file has as
 * comments. Each calls the function through every client and every provider of that file.
 */
export async function makeFreshProjects(folder: string): Promise<readonly Project[]> {
  const types = await clientTypes();
  const fresh = await Promise.all(types.map((type) => makeProject(folder, type)));
  const [first] = fresh;
  if (first === undefined) throw new Error('"baml-cli init --help" lists no client types');
  return [...fresh, withExampleClients(folder, first)];
}

async function clientTypes(): Promise<readonly string[]> {
  const help = await runPeer(['init', '--help']);
  const [, values] = /--client-type <CLIENT_TYPE>[^[]*\[possible values: ([^\]]+)\]/.exec(help) ?? [];
  return values?.split(',').map((type) => type.trim()) ?? [];
}

async function makeProject(folder: string, type: string): Promise<Project> {
  const name = `${FRESH}/${type.replaceAll('/', '-')}`;
  const project = join(folder, name);
  await runPeer(['init', '--dest', project, '--client-type', type, '--openapi-client-type', 'go']);
  return describeProject(name, project);
}

function withExampleClients(folder: string, source: Project): Project {
  const name = `${FRESH}/example-clients`;
  const project = join(folder, name);
  cpSync(source.definitions, join(project, 'baml_src'), { recursive: true });
  const file = join(project, 'baml_src/clients.baml');
  const text = readFileSync(file, 'utf8').replaceAll(/^\/\/ client<llm> .*\{\n(?:\/\/ .*\n)*?\/\/ \}$/gm, (block) =>
    block.replaceAll(/^\/\/ /gm, ''),
  );
  writeFileSync(file, text);
  return describeProject(name, project);
}

function describeProject(name: string, project: string): Project {
  const definitions = join(project, 'baml_src');
  const clients = clientsIn(readFileSync(join(definitions, 'clients.baml'), 'utf8'));
  const models = new Map([...clients].filter(([, provider]) => !STRATEGIES.has(provider)));
  const calls = [
    ...[...clients].flatMap(([client, provider]) => {
      // The turn of a round-robin client is certain only if no other call comes in between.
      const replies = STRATEGIES.has(provider) ? REPLIES.slice(0, 1) : REPLIES;
      return callsThrough(`${name}/${client}`, registryOf(client, models), replies);
    }),
    ...[...new Set(models.values())].flatMap((provider) =>
      callsThrough(`${name}/${provider}`, registryFor(provider), REPLIES),
    ),
  ];
  return { name, definitions, calls };
}

function callsThrough(path: string, registry: MakeRegistry, replies: readonly string[]): readonly Call[] {
  return replies.map((reply, index) => ({
    id: `${path}/1.${index + 1}`,
    function: FUNCTION,
    args: { resume: RESUME },
    reply,
    registry,
  }));
}

/** The provider of each client that is not commented out. */
function clientsIn(text: string): ReadonlyMap<string, string> {
  const found = text.matchAll(/^client<llm> (\w+) \{\s+provider (\S+)/gm);
  return new Map([...found].map(([, name = '', provider = '']) => [name, provider]));
}

async function runPeer(args: readonly string[]): Promise<string> {
  const command = peerCommand(args);
  const { stdout } = await promisify(execFile)(command.program, command.args);
  return stdout;
}
