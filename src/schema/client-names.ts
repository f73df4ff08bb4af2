import { strategyMembers } from './client.ts';
import type { Program } from './program.ts';

/** The names of all clients of a program: the declared ones, and the shorthands (`provider/model`) of functions and strategies. */
export function clientNames({ clients, functions }: Pick<Program, 'clients' | 'functions'>): ReadonlySet<string> {
  return new Set([
    ...clients.map((client) => client.name),
    ...functions.map((declared) => declared.client),
    ...clients.flatMap(strategyMembers),
  ]);
}
