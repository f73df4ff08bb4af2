import { ownValue } from '../../base/json.ts';
import { err, ok, type Result } from '../../base/result.ts';
import {
  type DefinitionIndex,
  indexDefinitions,
  type FunctionType,
  type Program,
  type ProgramFile,
} from '../../schema/program.ts';
import type { PromptFailure } from '../../schema/failure.ts';
import type { Message, PromptClient } from '../../schema/message.ts';
import { isFunctionName } from '../../schema/template-vocabulary.ts';
import type { FitsType } from '../../schema/type.ts';
import { buildMessages } from './build-messages.ts';
import { CHAT_HELPER, TEMPLATE_FUNCTIONS } from './builtins/functions.ts';
import { BodyCompiler, type CompiledMacro, MacroValue } from './compile/compile-body.ts';
import { SlotScope } from './compile/slot-scope.ts';
import { ArgumentConverter } from './convert-argument.ts';
import { OutputFormatValue, OutputDefinitions } from './describe-output.ts';
import { type Evaluate, type Execute, Frame, Rendering, UNSET } from './rendering.ts';
import { templateReason } from './values/work.ts';
import type { Convert } from './values/argument-values.ts';
import type { Value } from './values/value.ts';

/** Renders the prompts of one program. Made once per worker: templates become closures on first use. */
export interface PromptRenderer {
  /**
   * Returns the messages of one call. `args` are checked values by parameter name; an absent optional is missing. `tags`
   * become `ctx.tags`, which is empty by default.
   * Bounded in steps, output and depth; never throws.
   */
  render(
    functionName: string,
    args: Readonly<Record<string, unknown>>,
    client: PromptClient,
    tags?: PromptTags,
  ): Result<readonly Message[], PromptFailure>;
}

/** Strings that a caller passes to the prompt, by name. */
type PromptTags = ReadonlyMap<string, string>;

/**
 * Creates the renderer of a program's prompts. Each prompt is compiled on first use. `createFits` is called once for each
 * rendering, with the name of the function; its result can remember answers.
 */
export function createPromptRenderer(program: Program, createFits: (functionName: string) => FitsType): PromptRenderer {
  const index = indexDefinitions(program);
  const converter = new ArgumentConverter(index);
  const globals = new PromptGlobals(index, converter);
  const output = new OutputDefinitions(index);
  const prompts = new Map<string, Prompt>();

  function promptOf(functionName: string): Prompt | undefined {
    const known = prompts.get(functionName);
    const type = known === undefined ? index.functions.get(functionName) : undefined;
    if (type === undefined) return known;
    const prompt = new Prompt(type, { output, converter, globals });
    prompts.set(functionName, prompt);
    return prompt;
  }

  function render(
    functionName: string,
    args: Readonly<Record<string, unknown>>,
    client: PromptClient,
    tags?: PromptTags,
  ): Result<readonly Message[], PromptFailure> {
    const prompt = promptOf(functionName);
    if (prompt === undefined) return err(promptError(`There is no function "${functionName}".`));
    const converted = prompt.convert(args, createFits(functionName));
    // template_strings look up the arguments of the function by name.
    const lookup = (name: string): Value => (name === 'ctx' ? prompt.contextFor(client, tags) : converted.get(name));
    const rendering = new Rendering(prompt.file, lookup);
    try {
      prompt.execute(converted, rendering);
      return ok(buildMessages(rendering.out.fragments(), client));
    } catch (error) {
      const reason = templateReason(error);
      const position = positionOf(program.files, rendering.file, rendering.at);
      return err(promptError(`The prompt of "${functionName}" cannot be rendered: ${reason} (${position}).`));
    }
  }

  return { render };
}

function promptError(message: string): PromptFailure {
  return { code: 'prompt_error', message };
}

/** `path:line:column` of an offset in a definition file. */
function positionOf(files: readonly ProgramFile[], path: string, offset: number): string {
  const starts = files.find((file) => file.path === path)?.lineStarts ?? [0];
  const line = Math.max(
    0,
    starts.findLastIndex((start) => start <= offset),
  );
  return `${path}:${line + 1}:${offset - (starts[line] ?? 0) + 1}`;
}

interface Definitions {
  readonly output: OutputDefinitions;
  readonly converter: ArgumentConverter;
  readonly globals: PromptGlobals;
}

interface PromptParameter {
  readonly name: string;
  readonly slot: number;
  readonly convert: Convert;
}

/** The compiled prompt of one function. */
class Prompt {
  readonly file: string;
  readonly #parameters: readonly PromptParameter[];
  readonly #body: Execute;
  readonly #emptySlots: readonly Value[];
  readonly #outputFormat: OutputFormatValue;
  readonly #contexts = new WeakMap<PromptClient, ReadonlyMap<string, Value>>();

  constructor(type: FunctionType, { output, converter, globals }: Definitions) {
    this.file = type.prompt.file;
    const scope = globals.scope();
    this.#parameters = type.parameters.map((parameter) => ({
      name: parameter.name,
      slot: scope.declare(parameter.name),
      convert: converter.convertTo(parameter.type),
    }));
    scope.declareAssigned(type.prompt.body);
    this.#body = new BodyCompiler(this.file).body(type.prompt.body, scope);
    this.#emptySlots = Array.from<Value>({ length: scope.slotCount }).fill(UNSET);
    this.#outputFormat = new OutputFormatValue(type.returns, output);
  }

  /** Converts the arguments to the values that the template sees, by name. */
  convert(args: Readonly<Record<string, unknown>>, fits: FitsType): ReadonlyMap<string, Value> {
    return new Map(this.#parameters.map(({ name, convert }) => [name, convert(ownValue(args, name), fits)]));
  }

  /** Writes the prompt to `rendering.out`. */
  execute(args: ReadonlyMap<string, Value>, rendering: Rendering): void {
    const slots = this.#emptySlots.slice();
    for (const { name, slot } of this.#parameters) slots[slot] = args.get(name);
    this.#body(new Frame(slots, rendering));
  }

  /** Returns `ctx` for a client and the tags of a call. */
  contextFor(client: PromptClient, tags: PromptTags | undefined): Value {
    const context = this.#contextOf(client);
    return tags === undefined || tags.size === 0 ? context : new Map([...context, ['tags', tags]]);
  }

  #contextOf(client: PromptClient): ReadonlyMap<string, Value> {
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

/** The names that every template of a program can use besides its own variables. */
class PromptGlobals {
  readonly #index: DefinitionIndex;
  readonly #converter: ArgumentConverter;
  readonly #templateStrings = new Map<string, CompiledMacro>();

  constructor(index: DefinitionIndex, converter: ArgumentConverter) {
    this.#index = index;
    this.#converter = converter;
  }

  /** Opens the outermost scope of a template. */
  scope(): SlotScope {
    return SlotScope.root((name) => this.#resolve(name));
  }

  #resolve(name: string): Evaluate {
    if (name === '_') return () => CHAT_HELPER;
    const enumType = this.#index.enums.get(name);
    if (enumType !== undefined) {
      const values = this.#converter.enumOf(enumType);
      return () => values;
    }
    if (this.#index.templateStrings.has(name)) return (frame) => this.#templateString(name, frame);
    if (isFunctionName(name)) {
      const value = TEMPLATE_FUNCTIONS[name];
      return (frame) => frame.rendering.lookup(name) ?? value;
    }
    return (frame) => frame.rendering.lookup(name);
  }

  /** Compiles on first use: template_strings can call each other in any order. */
  #templateString(name: string, { rendering }: Frame): MacroValue | undefined {
    const compiled = this.#templateStrings.get(name) ?? this.#compile(name);
    return compiled && new MacroValue(compiled, new Frame([], rendering));
  }

  #compile(name: string): CompiledMacro | undefined {
    const type = this.#index.templateStrings.get(name);
    if (type === undefined) return undefined;
    const { parameters, template } = type;
    const compiled = new BodyCompiler(template.file).macro({ name, parameters, body: template.body }, this.scope());
    this.#templateStrings.set(name, compiled);
    return compiled;
  }
}
