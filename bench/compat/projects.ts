import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { registryFor, type MakeRegistry } from './registries.ts';

/** The groups of projects that have their name as the first part of a project's name. */
export const FRESH = 'init';
export const VERDICTS = 'verdicts';

/** A folder of definition files, and the calls that are made once it is served. */
export interface Project {
  readonly name: string;
  /** The folder `baml_src`. */
  readonly definitions: string;
  readonly calls: readonly Call[];
}

/** One call of a function, and the text with which the model replies. */
export interface Call {
  /** `project/Function/2.3`: the third reply to the second set of arguments. */
  readonly id: string;
  readonly function: string;
  readonly args: Arguments;
  readonly reply: string;
  /** The client registry of the request, for functions whose own client cannot reach the recording provider. */
  readonly registry?: MakeRegistry;
}

type Arguments = Readonly<Record<string, unknown>>;

/** The cases of one function in `cases.yaml`. */
interface Cases {
  readonly args?: Arguments;
  readonly calls?: readonly { readonly args: Arguments }[];
  readonly replies: readonly string[];
  readonly provider?: string;
}

/** Reads every project under `folder`; throws if a project's cases cannot be read. */
export function readProjects(folder: string): readonly Project[] {
  return readdirSync(folder)
    .filter((name) => existsSync(join(folder, name, 'cases.yaml')))
    .map((name) => {
      const cases = parse(readFileSync(join(folder, name, 'cases.yaml'), 'utf8')) as Readonly<Record<string, Cases>>;
      const calls = Object.entries(cases).flatMap(([fn, each]) => callsOf(name, fn, each));
      return { name, definitions: join(folder, name, 'baml_src'), calls };
    });
}

function callsOf(project: string, fn: string, { args, calls, replies, provider }: Cases): readonly Call[] {
  const sets = calls?.map((call) => call.args) ?? [args ?? {}];
  const registry = provider === undefined ? {} : { registry: registryFor(provider) };
  return sets.flatMap((set, at) =>
    replies.map((reply, index) => {
      const id = `${project}/${fn}/${at + 1}.${index + 1}`;
      if (typeof reply !== 'string') throw new Error(`${id}: the reply is not a string`);
      return { id, function: fn, args: set, reply, ...registry };
    }),
  );
}
