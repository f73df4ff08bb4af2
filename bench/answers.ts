/** A reply of the fake model, and the value that every side must return for it. */
export interface Answer {
  /** First part of the fake provider's path, and the name of the function that gets this answer. */
  readonly name: AnswerName;
  readonly text: string;
  readonly value: unknown;
}

/** Functions whose answer contains the times at which the model got and answered the call, and the milliseconds that the model takes. */
export const STAMPED_MS = { Stamped: 0, StampedLate: 200 } as const;
export type StampedName = keyof typeof STAMPED_MS;

export const ANSWER_NAMES = ['Small', 'Large', 'Larger', 'Megabyte'] as const;
export type AnswerName = (typeof ANSWER_NAMES)[number];

/** Strings in each of the two lists: 400 make about 30 KB of model text. */
const POINTS: Readonly<Record<Exclude<AnswerName, 'Small'>, number>> = {
  Large: 400,
  Larger: 4000,
  Megabyte: 13_000,
};

export function answer(name: AnswerName): Answer {
  return name === 'Small' ? smallAnswer() : pointsAnswer(name, POINTS[name]);
}

/** 150 bytes of clean JSON. */
function smallAnswer(): Answer {
  const value = {
    name: 'Ada Lovelace',
    email: 'ada@example.com',
    topic: 'analytical engine',
    urgent: false,
    summary: 'Asks for a copy of the notes on the machines.',
  };
  return { name: 'Small', text: JSON.stringify(value), value };
}

/** The small answer with this summary. */
export function stampedText(summary: string): string {
  return JSON.stringify({ ...(answer('Small').value as object), summary });
}

/** Two lists of strings, pretty-printed in a fence, as models often answer. */
function pointsAnswer(name: AnswerName, count: number): Answer {
  const value = { pros: pointList('pro', count), cons: pointList('con', count) };
  return { name, text: `\`\`\`json\n${JSON.stringify(value, undefined, 2)}\n\`\`\``, value };
}

function pointList(side: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${side} ${index}: short, sound, well put`);
}
