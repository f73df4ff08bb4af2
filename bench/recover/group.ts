import { core, isComposite, REFUSAL, type Damaged, type Draw, type Kind, type Way } from './kind.ts';

interface KindEntry extends Partial<Pick<Kind, 'clear' | 'fits'>> {
  /** A string is a template that `fill` completes. */
  readonly ways: readonly (Way | string)[];
}

/** Kinds are clear and apply to the types of the group unless they state otherwise. */
export function group(
  name: string,
  kinds: Readonly<Record<string, KindEntry | KindEntry['ways']>>,
  fits: Kind['fits'] = isComposite,
): readonly Kind[] {
  return Object.entries(kinds).map(([kind, entry]) => {
    const { ways, ...given } = 'ways' in entry ? entry : { ways: entry };
    const written = ways.map((way): Way => (typeof way === 'string' ? (draw) => fill(draw, way) : way));
    return { clear: true, fits, ...given, ways: written, name: kind, group: name };
  });
}

/** Ways whose replies have no value. */
export function refusals(...templates: readonly string[]): readonly Way[] {
  return templates.map((template) => (draw) => refused(fill(draw, template)));
}

export function refused(reply: string | undefined): Damaged {
  return reply === undefined ? undefined : { reply, truth: REFUSAL };
}

export function fenced(body: string, tag = ''): string {
  return `\`\`\`${tag}\n${body}\n\`\`\``;
}

/**
 * Completes a template: `<<json>>` is the value in one of the usual layouts, `<<line>>` and `<<block>>` are on one line and on several,
 * `<<fence>>` is in a fence, `<<either>>` is with or without one, `<<string>>` is a JSON string of the JSON text, `<<plain>>` is a scalar
 * without quotes; `<<draft>>` is another value of the type, and `<<answer>>` the value in the same layout. The others are words around it.
 * Undefined if no other value is found.
 */
function fill(draw: Draw, template: string): string | undefined {
  const draft = template.includes('<<draft') ? draw.another() : draw;
  if (draft === undefined) return undefined;
  const style = draw.layout();
  return template.replaceAll(/<<(\w+)>>/gu, (_, name: string) => {
    if (name === 'answer') return draw.write(style);
    if (name === 'draft') return draft.write(style);
    const write = PLACES[name];
    if (write === undefined) throw new Error(`the template has an unknown place: ${template}`);
    return write(draw);
  });
}

const PLACES: Readonly<Record<string, (draw: Draw) => string>> = {
  json: (draw) => draw.json(),
  line: (draw) => draw.write({}),
  block: (draw) => draw.write(),
  fence: (draw) => fenced(draw.json(), 'json'),
  either: (draw) => (draw.random.chance(0.5) ? draw.json() : fenced(draw.json(), 'json')),
  string: (draw) => JSON.stringify(draw.write({})),
  plain,
  other: (draw) => draw.random.pick(labelsOf(draw).filter((label) => label !== plain(draw))),
  labels: (draw) => labelsOf(draw).join(', '),
  n: ({ random }) => String(random.int(2, 90)),
  intro: ({ random }) => random.pick(INTROS),
  outro: ({ random }) => random.pick(OUTROS),
  thought: ({ random }) => random.pick(THOUGHTS),
  code: ({ random }) => random.pick(CODE),
  interface: ({ random }) => random.pick(INTERFACES),
  correction: ({ random }) => random.pick(CORRECTIONS),
};

/** The value without quotes. */
export function plain(draw: Draw): string {
  return draw.tree.kind === 'text' ? draw.tree.text : draw.write({});
}

/** All labels, as the model knows them. */
function labelsOf(draw: Draw): readonly string[] {
  const shape = core(draw.shape);
  if (shape.kind === 'enum') return shape.values.map(({ name, alias }) => alias ?? name);
  const literals = shape.kind === 'union' ? shape.members : [shape];
  return literals.flatMap((member) => (member.kind === 'literal' ? [String(member.value)] : []));
}

const INTROS = [
  'Here is the JSON:',
  "Sure! Here's the information you asked for:",
  'Based on the text, this is the result:',
  'Answer:',
  'The requested data is below.',
];

const OUTROS = [
  'Let me know if you need anything else!',
  'I hope this helps.',
  'Note: I took all values from the text as it is.',
  'If something is missing, I can try again.',
];

const THOUGHTS = [
  'The user wants structured data. I should use { and } and keep the order.',
  'Okay, so there are 3 values here: [first, second, third]. The format needs {key: value} pairs. I think I have everything.',
  'Let me see. "name" is given, the list is not empty.',
  "I need to be careful: it's not clear whether 12 or 15 is right. The text says 15.",
];

const INTERFACES = [
  fenced('interface Result {\n  name: string;\n  values: number[];\n  note?: string;\n}', 'typescript'),
  fenced('class Result(BaseModel):\n    name: str\n    values: list[int] = []\n    extra: dict = {}', 'python'),
];

const CODE = [
  fenced('import json\n\nresult = {"name": data["n"], "items": [1, 2]}\nprint(result)', 'python'),
  fenced('const data = JSON.parse(text);\nconsole.log({ total: data.items.length, first: data.items[0] });', 'js'),
  fenced('curl -X POST https://example.com/api -d \'{"query": "x"}\'', 'bash'),
];

const CORRECTIONS = [
  'Wait, that is not right. The corrected version is:',
  'Actually, I made a mistake above. Corrected:',
  'Correction:',
  'On second thought, the final answer is:',
  'I apologize for the error. Here is the revised JSON:',
];
