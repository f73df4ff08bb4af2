import type { DefinitionIndex } from '../../../schema/program.ts';
import { PROVIDER_DESCRIPTIONS, providerNamed } from '../../../schema/providers/providers.ts';
import type { Expression } from '../../../schema/template.ts';
import type { TemplateWalker } from '../templates/template-walker.ts';

/**
 * A literal role must be one that a client of the prompt allows. The text after any other role silently gets the default role, so
 * `_.role("User")` makes the text of a user a part of the system message.
 */
export function unknownRoleRule(expression: Expression, context: TemplateWalker): void {
  if (expression.kind !== 'call' || expression.callee.kind !== 'attribute' || context.roles === undefined) return;
  if (context.valueOf(expression.callee.object).kind !== 'chat') return;
  const { positional, named } = expression.args;
  const role = positional[0] ?? named.find(({ name }) => name === 'role')?.value;
  if (role?.kind !== 'string' || context.roles.has(role.value)) return;
  context.report('template/unknown-role', role, { name: role.value, roles: [...context.roles] });
}

/**
 * Returns the roles that at least one of these clients allows; none of them is a strategy. Undefined if one can allow any role, because
 * it is unknown or reads its roles from the environment, and if there is no client.
 */
export function rolesOf(clients: Iterable<string>, index: DefinitionIndex): ReadonlySet<string> | undefined {
  const roles = [...new Set(clients)].map((name) => rolesOfClient(name, index));
  const known = roles.filter((each) => each !== undefined);
  return known.length === 0 || known.length < roles.length ? undefined : new Set(known.flat());
}

function rolesOfClient(name: string, { clients }: DefinitionIndex): readonly string[] | undefined {
  const client = clients.get(name);
  const provider = client?.provider ?? providerNamed(name.split('/', 1)[0] ?? '');
  const list = client?.options.findLast(({ key }) => key === 'allowed_roles')?.value;
  if (list === undefined || (list.kind === 'scalar' && list.value === null)) {
    return provider === undefined ? undefined : PROVIDER_DESCRIPTIONS[provider].http?.roles;
  }
  const items = list.kind === 'list' ? list.items : [];
  const texts = items.flatMap((item) => (item.kind === 'scalar' && typeof item.value === 'string' ? [item.value] : []));
  return list.kind === 'list' && texts.length === items.length ? texts : undefined;
}
