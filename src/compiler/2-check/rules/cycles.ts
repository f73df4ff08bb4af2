import type { TypeNode } from '../../1-parse/syntax-nodes.ts';
import type { Rule } from '../check-context.ts';
import { type DefinitionScope, referencedNames } from '../scope.ts';
import { dependenciesFirst, stronglyConnected } from '../../../base/strongly-connected.ts';

/** A class does not require a value of itself, directly or in every member of a union: such a value would never end. */
export const classCycles: Rule = ({ scope, aliases, reportCycle }) => {
  const endless = endlessTypes(scope);
  // An alias that refers only to itself has its own diagnostic.
  for (const { name } of aliases.endless.flat()) endless.delete(name.text);
  const required = (name: string): readonly string[] =>
    typesOf(name, scope).flatMap((type) => (isEndless(type, endless) ? referencedNames(type, false) : []));
  for (const group of stronglyConnected([...endless], (name) => required(name).filter((each) => endless.has(each)))) {
    reportCycle(
      'check/class-cycle',
      group.flatMap((name) => scope.classes.get(name) ?? []),
    );
  }
};

/**
 * Returns the classes and aliases without a value that ends. An optional, a list and a map always have one, because it can be empty;
 * a union has one if a member has one, a class if all of its fields have one.
 */
function endlessTypes(scope: DefinitionScope): Set<string> {
  const names = [...scope.classes.keys(), ...scope.aliases.keys()];
  const endless = new Set(names);
  const users = new Map(names.map((name) => [name, new Set<string>()]));
  const mentioned = (name: string): readonly string[] =>
    typesOf(name, scope).flatMap((type) => referencedNames(type, false));
  for (const name of names) for (const target of mentioned(name)) users.get(target)?.add(name);
  const waiting = dependenciesFirst(names, mentioned).toReversed();
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (!endless.has(name) || typesOf(name, scope).some((type) => isEndless(type, endless))) continue;
    endless.delete(name);
    for (const user of users.get(name) ?? []) waiting.push(user);
  }
  return endless;
}

/** The types of a class's fields, or the type that an alias stands for. */
function typesOf(name: string, scope: DefinitionScope): readonly TypeNode[] {
  const alias = scope.aliases.get(name);
  if (alias !== undefined) return [alias.type];
  return (scope.classes.get(name)?.fields ?? []).flatMap(({ type }) => type ?? []);
}

function isEndless(type: TypeNode, endless: ReadonlySet<string>): boolean {
  if (type.kind === 'union') return type.members.every((member) => isEndless(member, endless));
  return type.kind === 'name' && endless.has(type.name);
}

/** An alias refers to itself only inside a list or a map: otherwise it has no value. */
export const aliasCycles: Rule = ({ aliases, reportCycle }) => {
  for (const group of aliases.endless) reportCycle('check/alias-cycle', group);
};
