import { Draw, valueTruth, type Kind, type Truth } from './kind.ts';
import { FORMS } from './kinds/forms.ts';
import { JSON_TEXT } from './kinds/json.ts';
import { WITHOUT_VALUE } from './kinds/losses.ts';
import { PROSE } from './kinds/prose.ts';
import { Random } from './random.ts';
import { makeValue } from './shape.ts';
import { SUBJECTS, type Subject } from './subjects.ts';

/** Every kind of damage. Names are unique within a group. */
export const KINDS: readonly Kind[] = [...PROSE, ...JSON_TEXT, ...FORMS, ...WITHOUT_VALUE];

/** A messy reply whose value is known. */
export interface Case {
  readonly kind: Kind;
  readonly subject: Subject;
  readonly reply: string;
  readonly truth: Truth;
}

/** Values are drawn again this often until one has a place for the damage. */
const MAX_DRAWS = 60;

/**
 * Makes `count` replies of a kind, over as many of its types as possible. They depend on the seed and the names of the
 * kind and its group only, so that a new kind changes no other. Returns fewer if hardly a value has a place for the damage.
 */
export function casesOf(kind: Kind, seed: number, count: number): readonly Case[] {
  const random = new Random(`${seed} ${kind.group} ${kind.name}`);
  const subjects = random.shuffle(SUBJECTS.filter((subject) => kind.fits(subject)));
  const cases: Case[] = [];
  for (let draws = 0; subjects.length > 0 && cases.length < count && draws < count * MAX_DRAWS; draws += 1) {
    const subject = subjects[draws % subjects.length];
    const made = subject === undefined ? undefined : caseOf(kind, subject, random);
    if (made !== undefined) cases.push(made);
  }
  return cases;
}

function caseOf(kind: Kind, subject: Subject, random: Random): Case | undefined {
  const draw = new Draw(subject, makeValue(subject.shape, random), random);
  const damaged = random.pick(kind.ways)(draw);
  if (damaged === undefined) return undefined;
  const made = typeof damaged === 'string' ? { reply: damaged, truth: valueTruth(draw.value) } : damaged;
  return { kind, subject, ...made };
}
