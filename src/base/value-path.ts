/** The path of a value, as a list linked to the parent: only violations need it as text. */
export interface ValuePath {
  readonly parent: ValuePath | undefined;
  readonly step: string | number;
  /** 0 for a parameter. */
  readonly depth: number;
}

/** Extends a path by one step; without a parent, the step is a parameter. */
export function pathStep(parent: ValuePath | undefined, step: string | number): ValuePath {
  return { parent, step, depth: parent === undefined ? 0 : parent.depth + 1 };
}

/** Paths cut longer keys: a key can have megabytes. */
const MAX_KEY_LENGTH = 80;

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/u;

/** `resume.skills[2].name`; keys that are not identifiers are in brackets: `labels["a b"]`. */
export function pathText(path: ValuePath | undefined): string {
  const steps: string[] = [];
  for (let at = path; at !== undefined; at = at.parent) steps.push(stepText(at));
  return steps.toReversed().join('');
}

function stepText({ step, parent }: ValuePath): string {
  return pathStepText(step, parent === undefined);
}

/** The text by which a step extends a path; `first`: the path was empty. */
export function pathStepText(step: string | number, first: boolean): string {
  if (typeof step === 'number') return `[${step}]`;
  const key = step.length > MAX_KEY_LENGTH ? `${step.slice(0, MAX_KEY_LENGTH)}…` : step;
  if (!IDENTIFIER.test(key)) return `[${JSON.stringify(key)}]`;
  return first ? key : `.${key}`;
}

/** Joins `skills` and `[2].name` to `skills[2].name`. */
export function joinPath(segment: string, rest: string): string {
  if (rest === '' || segment === '') return segment + rest;
  return rest.startsWith('[') ? segment + rest : `${segment}.${rest}`;
}
