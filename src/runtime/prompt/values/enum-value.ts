import type { EnumType, EnumValueType } from '../../../schema/type.ts';
import type { TextSink } from './segment.ts';
import { Special, type Value } from './value.ts';

/** A value of an enum: prints its alias, equals its real name. */
export class EnumValue extends Special {
  readonly kindName = 'enum';
  readonly name: string;
  readonly printed: string;

  constructor(type: EnumValueType) {
    super();
    this.name = type.name;
    this.printed = type.alias ?? type.name;
  }

  override attribute(name: string): Value {
    return name === 'value' ? this.name : undefined;
  }

  override print(out: TextSink): void {
    out.write(this.printed);
  }
}

/** An enum by its name: `Color.Red`. */
export class EnumNamespace extends Special {
  readonly kindName = 'enum';
  readonly values: ReadonlyMap<string, EnumValue>;

  constructor(type: EnumType) {
    super();
    this.values = new Map(type.values.map((value) => [value.name, new EnumValue(value)]));
  }

  override attribute(name: string): Value {
    return this.values.get(name);
  }

  override print(out: TextSink): void {
    out.write('{}');
  }
}
