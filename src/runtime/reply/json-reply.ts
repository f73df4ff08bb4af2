import type { JsonValue } from '../../base/json.ts';
import type { ParsedReply, ParseFlag } from './reply-parser.ts';

/** A parsed reply that is kept as JSON text: mostly only the text is needed. */
export class JsonReply implements ParsedReply {
  readonly json: string;
  readonly flags: readonly ParseFlag[];
  #value: JsonValue | undefined = undefined;

  constructor(json: string, flags: readonly ParseFlag[]) {
    this.json = json;
    this.flags = flags;
  }

  get value(): JsonValue {
    return (this.#value ??= JSON.parse(this.json) as JsonValue);
  }
}
