import type { DefinitionIndex } from '../../schema/definition-index.ts';
import { isFunctionName } from '../../schema/template-vocabulary.ts';
import { ChatHelper } from './chat-helper.ts';
import { BodyCompiler } from './compile/compile-body.ts';
import { type Evaluate, Frame } from './compile/frame.ts';
import { type CompiledMacro, MacroValue } from './compile/macro-value.ts';
import { Scope } from './compile/scope.ts';
import type { ArgumentConverter } from './convert-argument.ts';
import { TEMPLATE_FUNCTIONS } from './template-functions.ts';

const CHAT = new ChatHelper();

/** The names that every template of a program knows besides its own variables. */
export class PromptGlobals {
  readonly #index: DefinitionIndex;
  readonly #converter: ArgumentConverter;
  readonly #templateStrings = new Map<string, CompiledMacro>();

  constructor(index: DefinitionIndex, converter: ArgumentConverter) {
    this.#index = index;
    this.#converter = converter;
  }

  /** The outermost scope of a template. */
  scope(): Scope {
    return Scope.root((name) => this.#resolve(name));
  }

  #resolve(name: string): Evaluate {
    if (name === '_') return () => CHAT;
    const enumType = this.#index.enums.get(name);
    if (enumType !== undefined) {
      const values = this.#converter.enumOf(enumType);
      return () => values;
    }
    if (this.#index.templateStrings.has(name)) return (frame) => this.#templateString(name, frame);
    if (isFunctionName(name)) {
      const value = TEMPLATE_FUNCTIONS[name];
      return (frame) => frame.run.lookup(name) ?? value;
    }
    return (frame) => frame.run.lookup(name);
  }

  /** Compiled at the first use: template_strings may call each other in any order. */
  #templateString(name: string, { run }: Frame): MacroValue | undefined {
    const compiled = this.#templateStrings.get(name) ?? this.#compile(name);
    return compiled && new MacroValue(compiled, new Frame([], run));
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
