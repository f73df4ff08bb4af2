/** One thing that is wrong with data that somebody sent: an argument, an option, a model's reply. */
export interface Violation {
  /** The path to the offending value, such as `resume.skills[2].name`; empty for the whole value. */
  readonly path: string;
  readonly message: string;
  /** The position in the definitions of a `type_builder`, with lines and columns from 1. */
  readonly line?: number;
  readonly column?: number;
  /** The lines at this position, with marks under the text. */
  readonly frame?: string;
}

/** The reports of a list of a million wrong items would make an answer larger than the request. */
const MAX_VIOLATIONS = 100;

/** A message can quote names from a request, and such a name can be megabytes long. */
const MAX_CHARACTERS = 1000;

/** Collects the first 100 violations, and then one entry which states that there are more. Truncates long paths and messages. */
export class ViolationList {
  readonly all: Violation[] = [];

  /** The list takes no more, so a caller can stop looking. */
  get full(): boolean {
    return this.all.length > MAX_VIOLATIONS;
  }

  add(violation: Violation): void {
    if (this.all.length === MAX_VIOLATIONS) this.all.push({ path: '', message: 'and more: these are the first 100' });
    if (this.all.length < MAX_VIOLATIONS) {
      this.all.push({ ...violation, path: cut(violation.path), message: cut(violation.message) });
    }
  }
}

function cut(text: string): string {
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text;
}
