import type { ClientType } from './client.ts';
import type { Program } from './program.ts';

/** The names of all clients of a program: the declared ones, and the shorthands (`provider/model`) of functions and strategies. */
export function clientNames({ clients, functions }: Pick<Program, 'clients' | 'functions'>): ReadonlySet<string> {
  return new Set([
    ...clients.map((client) => client.name),
    ...functions.map((declared) => declared.client),
    ...clients.flatMap(membersOf),
  ]);
}

/** The members of a client with a strategy. */
function membersOf({ options }: ClientType): readonly string[] {
  const strategy = options.find(({ key }) => key === 'strategy')?.value;
  if (strategy?.kind !== 'list') return [];
  return strategy.items.flatMap((item) => (item.kind === 'scalar' ? [String(item.value)] : []));
}
