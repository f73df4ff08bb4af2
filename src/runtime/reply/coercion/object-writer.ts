import type { ReplyNode } from '../text/reply-node.ts';
import type { ClassFields, FieldPlan } from './class-fields.ts';
import { memberError } from './coercion-error.ts';
import { FlagList, MemberTexts, repairFlags, type CoercedValue, type CoercionOutcome } from './outcome.ts';
import { PartialValue } from './plan.ts';

/** Builds the value of a class field by field. */
export class ObjectWriter {
  score = 0;
  readonly #texts = new MemberTexts();
  /** Created on demand: most objects have no flags, and there can be thousands. */
  #flags: FlagList | undefined = undefined;

  constructor(node: ReplyNode) {
    if (node.repairs !== 0) this.#flagList().addAll('', repairFlags(node));
  }

  #flagList(): FlagList {
    return (this.#flags ??= new FlagList());
  }

  add(field: FieldPlan, value: CoercedValue): void {
    this.#texts.add(this.#texts.isEmpty ? field.jsonKey : field.nextJsonKey, value);
    this.score += value.score * 10;
    if (value.flags.length > 0) this.#flagList().addAll(field.name, value.flags);
  }

  /** Returns the value of a field that the object lacks. */
  missing(field: FieldPlan): CoercionOutcome {
    const fallback = field.plan.fallback();
    if (fallback === undefined) return field.missing;
    this.score += 1;
    if (fallback.bare !== 'null') this.flag('defaulted', field.name, 'missing');
    return fallback;
  }

  /** Coerces the value of a field. */
  member(field: FieldPlan, item: ReplyNode): CoercionOutcome {
    const outcome = field.plan.coerce(item);
    if (outcome.ok) return outcome;
    const fallback = outcome.asserted ? undefined : field.plan.fallback();
    if (fallback === undefined) return memberError(field.name, outcome);
    this.score += 110;
    this.flag('defaulted', field.name, outcome.reason);
    return fallback;
  }

  flag(flag: string, path: string, detail?: string): void {
    this.#flagList().add(flag, path, detail);
  }

  finish(marks: number): CoercedValue {
    const flags = this.#flags?.list;
    return this.#texts.finish('{', '}', this.score, flags === undefined ? { marks } : { marks, flags });
  }
}

/** Writes the partials of one object as it grows. Each member is written once, when it is complete. */
export class ObjectProgress {
  readonly #fields: ClassFields;
  readonly #node: ReplyNode;
  readonly #values: (ReplyNode | undefined)[] = [];
  readonly #finished: (PartialValue | undefined)[] = [];
  #scanned = 0;

  constructor(fields: ClassFields, node: ReplyNode) {
    this.#fields = fields;
    this.#node = node;
  }

  show(): PartialValue {
    this.#scan();
    const { all, shown } = this.#fields;
    let json = '{';
    let allNull = true;
    for (const position of shown) {
      const field = all[position];
      if (field === undefined) continue;
      const partial = this.#finished[position] ?? this.#field(field, position);
      if (partial === undefined && field.streamNotNull) return PartialValue.withheld;
      const value = partial?.json ?? field.plan.blank(this.#values[position] !== undefined);
      json += (json === '{' ? field.jsonKey : field.nextJsonKey) + value;
      allNull &&= partial === undefined ? isNullBlank(value) : partial.allNull || value === 'null';
    }
    return new PartialValue(`${json}}`, allNull);
  }

  /** Assigns the members that have arrived since the last call. */
  #scan(): void {
    const { keys, items } = this.#node;
    for (; this.#scanned < items.length; this.#scanned += 1) {
      const position = this.#fields.positionOf(keys[this.#scanned] ?? '');
      if (position >= 0) this.#values[position] ??= items[this.#scanned];
    }
  }

  /** Returns the partial of a field that has begun; undefined if it shows nothing. */
  #field(field: FieldPlan, position: number): PartialValue | undefined {
    const item = this.#values[position];
    if (item === undefined) return undefined;
    const partial = field.plan.show(item);
    if (partial.json === undefined || (partial.allNull && field.streamNotNull)) return undefined;
    if (!item.complete) return partial;
    item.forget();
    this.#finished[position] = partial;
    return partial;
  }
}

/** Null, or null in the wrappers of `@check` and `@stream.with_state`. */
function isNullBlank(json: string): boolean {
  return json === 'null' || json.startsWith('{"value":null,') || json.startsWith('{"value":{"value":null,');
}
