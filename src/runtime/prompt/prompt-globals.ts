import type { DefinitionIndex } from '../../schema/definition-index.ts';
import { isFunctionName } from '../../schema/template-vocabulary.ts';
import { ChatHelper } from './builtins/chat-helper.ts';
import { TEMPLATE_FUNCTIONS } from './builtins/functions.ts';
import { BodyCompiler } from './compile/compile-body.ts';
import { type Evaluate, Frame } from './compile/frame.ts';
import { type CompiledMacro, MacroValue } from './compile/macro-value.ts';
import { SlotScope } from './compile/slot-scope.ts';
import type { ArgumentConverter } from './convert-argument.ts';

const CHAT = new ChatHelper();

/** The names that every template of a program can use besides its own variables. */
export class PromptGlobals {
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
    if (name === '_') return () => CHAT;
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
