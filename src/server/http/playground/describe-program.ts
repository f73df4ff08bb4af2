import type { ClientType, OptionValue } from '../../../schema/client.ts';
import type {
  PlaygroundClass,
  PlaygroundClient,
  PlaygroundDocument,
  PlaygroundEnum,
  PlaygroundFunction,
} from '../../../schema/playground-document.ts';
import type { FunctionType, Program } from '../../../schema/program.ts';
import { isStrategy, PROVIDERS } from '../../../schema/providers/providers.ts';
import type { ClassType, EnumType, Type } from '../../../schema/type.ts';

/** The facts about a server that the page shows beside the program. */
export interface ServerFacts extends Pick<PlaygroundDocument, 'title' | 'version' | 'clientRegistry'> {
  /** By client: the variable without which its calls fail. */
  readonly missing: ReadonlyMap<string, string>;
}

/** Describes a program to the page of the playground. */
export function describeProgram(
  program: Program,
  { missing, ...facts }: ServerFacts,
): Omit<PlaygroundDocument, 'problems'> {
  return {
    program: program.hash,
    ...facts,
    functions: program.functions.map(describeFunction),
    classes: program.classes.map(describeClass),
    enums: program.enums.map(describeEnum),
    aliases: program.aliases.map(({ name, type }) => ({ name, type: bare(type) })),
    clients: program.clients.map((client) => describeClient(client, missing)),
    providers: PROVIDERS.filter((provider) => !isStrategy(provider)),
  };
}

function describeFunction(fn: FunctionType): PlaygroundFunction {
  const { name, client, documentation, examples, parameters, returns } = fn;
  return {
    name,
    client,
    examples,
    parameters: parameters.map((each) => ({ name: each.name, type: bare(each.type) })),
    returns: bare(returns),
    ...(documentation !== undefined && { documentation }),
  };
}

function describeClass({ name, fields, description, documentation }: ClassType): PlaygroundClass {
  return {
    name,
    fields: fields.map((field) => ({ name: field.name, type: bare(field.type), ...textOf(field) })),
    ...textOf({ description, documentation }),
  };
}

function describeEnum({ name, values, description, documentation }: EnumType): PlaygroundEnum {
  return {
    name,
    values: values.map((value) => ({ name: value.name, ...textOf(value) })),
    ...textOf({ description, documentation }),
  };
}

interface Texts {
  readonly description?: string | undefined;
  readonly documentation?: string | undefined;
}

/** A person reads the comment of the author first; the description is written for models. */
function textOf({ description, documentation }: Texts): { readonly description?: string } {
  const text = documentation ?? description;
  return text === undefined ? {} : { description: text };
}

function describeClient({ name, options, provider }: ClientType, missing: ServerFacts['missing']): PlaygroundClient {
  const option = (key: string): OptionValue | undefined => options.find((each) => each.key === key)?.value;
  const model = option('model');
  const strategy = option('strategy');
  const variable = missing.get(name);
  return {
    name,
    provider,
    ...(model?.kind === 'scalar' && { model: String(model.value) }),
    ...(strategy?.kind === 'list' && {
      members: strategy.items.flatMap((item) => (item.kind === 'scalar' ? [String(item.value)] : [])),
    }),
    ...(variable !== undefined && { missing: variable }),
  };
}

/** The type without attributes: forms do not check constraints. */
function bare(type: Type): Type {
  switch (type.kind) {
    case 'list':
      return { kind: 'list', element: bare(type.element) };
    case 'map':
      return { kind: 'map', key: bare(type.key), value: bare(type.value) };
    case 'union':
      return { kind: 'union', members: type.members.map(bare) };
    default: {
      const { constraints: _constraints, stream: _stream, ...shape } = type;
      return shape;
    }
  }
}
