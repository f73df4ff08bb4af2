import { ownValue } from '../../base/json.ts';
import type { DefinitionIndex } from '../../schema/definition-index.ts';
import type { FunctionType } from '../../schema/function.ts';
import type { FitsType } from '../../schema/type.ts';
import { BodyCompiler } from './compile/compile-body.ts';
import { type Execute, Frame, UNSET } from './compile/frame.ts';
import type { ArgumentConverter, Convert } from './convert-argument.ts';
import type { PromptClient } from '../../schema/message.ts';
import { describeOutput } from './output-format/describe-output.ts';
import { OutputFormatValue } from './output-format/output-format-value.ts';
import type { PromptGlobals } from './prompt-globals.ts';
import type { Run } from './run.ts';
import type { Value } from './values/value.ts';

interface Surroundings {
  readonly index: DefinitionIndex;
  readonly converter: ArgumentConverter;
  readonly globals: PromptGlobals;
  readonly createFits: () => FitsType;
}

interface Parameter {
  readonly name: string;
  readonly slot: number;
  readonly convert: Convert;
}

/** The prompt of one function, compiled. */
export class Prompt {
  readonly file: string;
  readonly #createFits: () => FitsType;
  readonly #parameters: readonly Parameter[];
  readonly #body: Execute;
  readonly #emptySlots: readonly Value[];
  readonly #outputFormat: OutputFormatValue;
  readonly #contexts = new WeakMap<PromptClient, Value>();

  constructor(type: FunctionType, { index, converter, globals, createFits }: Surroundings) {
    this.file = type.prompt.file;
    this.#createFits = createFits;
    const scope = globals.scope();
    this.#parameters = type.parameters.map((parameter) => ({
      name: parameter.name,
      slot: scope.declare(parameter.name),
      convert: converter.convertTo(parameter.type),
    }));
    scope.declareAssigned(type.prompt.body);
    this.#body = new BodyCompiler(this.file).body(type.prompt.body, scope);
    this.#emptySlots = Array.from<Value>({ length: scope.slotCount }).fill(UNSET);
    this.#outputFormat = new OutputFormatValue((options) => describeOutput(type.returns, index, options));
  }

  /** The arguments as the template sees them, by their names. */
  convert(args: Readonly<Record<string, unknown>>): ReadonlyMap<string, Value> {
    const fits = this.#createFits();
    return new Map(this.#parameters.map(({ name, convert }) => [name, convert(ownValue(args, name), fits)]));
  }

  /** Writes the prompt to `run.out`. */
  execute(args: ReadonlyMap<string, Value>, run: Run): void {
    const slots = this.#emptySlots.slice();
    for (const { name, slot } of this.#parameters) slots[slot] = args.get(name);
    this.#body(new Frame(slots, run));
  }

  /** `ctx` for a client. */
  contextFor(client: PromptClient): Value {
    const known = this.#contexts.get(client);
    if (known !== undefined) return known;
    const context = new Map<string, Value>([
      ['client', clientValue(client)],
      ['tags', new Map()],
      ['output_format', this.#outputFormat],
    ]);
    this.#contexts.set(client, context);
    return context;
  }
}

function clientValue(client: PromptClient): Value {
  return new Map<string, Value>([
    ['name', client.name],
    ['provider', client.provider],
    ['default_role', client.defaultRole],
    ['allowed_roles', client.allowedRoles],
    ['remap_role', client.remapRoles],
    ['options', client.options],
  ]);
}
