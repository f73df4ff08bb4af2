import type { Arguments } from '../../../schema/template.ts';
import { TemplateFault } from '../values/work.ts';
import type { Evaluate, Frame } from '../rendering.ts';
import type { CallArguments, Value } from '../values/value.ts';

interface Parameter {
  readonly name: string;
  readonly optional: boolean;
  readonly kind: 'either' | 'named' | 'rest' | 'names';
}

/** Parses a parameter of the vocabulary: `name`, `name?`, `name=`, `name=?`, `*rest`, `**names`. */
function parameterOf(text: string): Parameter {
  const optional = text.endsWith('?');
  const bare = optional ? text.slice(0, -1) : text;
  if (bare.startsWith('**')) return { name: bare.slice(2), optional: true, kind: 'names' };
  if (bare.startsWith('*')) return { name: bare.slice(1), optional: true, kind: 'rest' };
  if (bare.endsWith('=')) return { name: bare.slice(0, -1), optional, kind: 'named' };
  return { name: bare, optional, kind: 'either' };
}

/** Orders arguments by parameters, one value for each: `*rest` is a list, `**names` a Map, an omitted argument `undefined`. */
export function orderArguments(args: CallArguments, parameters: readonly string[]): readonly Value[] {
  if (args.named.size === 0 && args.positional.length === parameters.length && parameters.every(takesPosition)) {
    return args.positional;
  }
  const named = new Map(args.named);
  let position = 0;
  const values = parameters.map((text): Value => {
    const parameter = parameterOf(text);
    if (parameter.kind === 'rest') return args.positional.slice(position, (position = args.positional.length));
    if (parameter.kind === 'names') return takeAll(named);
    if (parameter.kind === 'either' && position < args.positional.length) return args.positional[position++];
    if (!named.has(parameter.name)) return missing(parameter);
    const value = named.get(parameter.name);
    named.delete(parameter.name);
    return value;
  });
  if (position < args.positional.length) throw new TemplateFault('too many arguments');
  for (const name of named.keys()) throw new TemplateFault(`there is no argument "${name}"`);
  return values;
}

function takesPosition(parameter: string): boolean {
  return !parameter.includes('=') && !parameter.startsWith('*');
}

function takeAll(named: Map<string, Value>): Value {
  const all = new Map<Value, Value>(named);
  named.clear();
  return all;
}

function missing(parameter: Parameter): Value {
  if (!parameter.optional) throw new TemplateFault(`the argument "${parameter.name}" is missing`);
  return undefined;
}

/** Compiles the arguments of a call, which are evaluated in their order. */
export function compileArguments(args: Arguments, compile: (expression: Arguments['positional'][number]) => Evaluate) {
  const positional = args.positional.map(compile);
  const named = args.named.map((entry) => ({ name: entry.name, value: compile(entry.value) }));
  if (positional.length === 0 && named.length === 0) return () => NO_ARGUMENTS;
  return (frame: Frame): CallArguments => ({
    positional: positional.map((evaluate) => evaluate(frame)),
    named: named.length === 0 ? NO_NAMES : new Map(named.map((entry) => [entry.name, entry.value(frame)])),
  });
}

const NO_NAMES: ReadonlyMap<string, Value> = new Map();
export const NO_ARGUMENTS: CallArguments = { positional: [], named: NO_NAMES };
