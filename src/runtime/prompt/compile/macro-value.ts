import type { Macro } from '../../../schema/template.ts';
import { TemplateFault } from '../template-fault.ts';
import type { PromptOutput } from '../values/output.ts';
import { type CallArguments, Special, type Value } from '../values/value.ts';
import { capture, type Evaluate, type Execute, Frame, UNSET } from '../rendering.ts';

/** A compiled macro, the same for every call. */
export interface CompiledMacro {
  readonly macro: Macro;
  readonly file: string;
  /** Slots of the parameters, in order; `caller` comes after them. */
  readonly parameterSlots: readonly number[];
  readonly callerSlot: number;
  readonly fallbacks: readonly (Evaluate | undefined)[];
  readonly slotCount: () => number;
  readonly body: Execute;
}

/** A macro as a value, with the activation in which it was defined. */
export class MacroValue extends Special {
  readonly kindName = 'macro';
  readonly #compiled: CompiledMacro;
  readonly #frame: Frame;

  constructor(compiled: CompiledMacro, frame: Frame) {
    super();
    this.#compiled = compiled;
    this.#frame = frame;
  }

  override attribute(name: string): Value {
    const { macro } = this.#compiled;
    if (name === 'name') return macro.name;
    return name === 'arguments' ? macro.parameters.map((parameter) => parameter.name) : undefined;
  }

  override print(out: PromptOutput): void {
    out.write(`<macro ${this.#compiled.macro.name}>`);
  }

  override call(args: CallArguments): Value {
    const { rendering } = this.#frame;
    const { file, body } = this.#compiled;
    const callSite = { file: rendering.file, at: rendering.at };
    rendering.enterCall();
    const frame = this.#activate(args);
    rendering.file = file;
    const result = capture(frame, body);
    rendering.file = callSite.file;
    rendering.at = callSite.at;
    rendering.leaveCall();
    return result;
  }

  #activate(args: CallArguments): Frame {
    const { parameterSlots, callerSlot, slotCount, fallbacks } = this.#compiled;
    const slots = Array.from<Value>({ length: slotCount() }).fill(UNSET);
    const frame = new Frame(slots, this.#frame.rendering, this.#frame);
    const given = this.#given(args);
    for (const [index, slot] of parameterSlots.entries()) {
      slots[slot] = given[index] ?? (given[index] === null ? null : fallbacks[index]?.(frame));
    }
    slots[callerSlot] = args.named.get('caller');
    return frame;
  }

  /** Arguments by parameter; a `caller` is allowed with them. */
  #given({ positional, named }: CallArguments): readonly Value[] {
    const { macro } = this.#compiled;
    const names = macro.parameters.map((parameter) => parameter.name);
    if (positional.length > names.length) {
      throw new TemplateFault(`"${macro.name}" takes ${names.length} arguments, not ${positional.length}`);
    }
    for (const name of named.keys()) {
      if (!names.includes(name) && name !== 'caller') {
        throw new TemplateFault(`"${macro.name}" has no argument "${name}"`);
      }
    }
    return names.map((name, index) => (index < positional.length ? positional[index] : named.get(name)));
  }
}
