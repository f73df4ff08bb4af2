import {
  both,
  core,
  group,
  isBool,
  isLabel,
  isNumber,
  isScalar,
  REFUSAL,
  valueTruth,
  type Draw,
  type Damaged,
  type Kind,
} from '../kind.ts';
import { fenced } from './around.ts';

const required = (filter: Kind['fits']): Kind['fits'] => both(filter, ({ shape }) => core(shape) === shape);
const aNumber = required(isNumber);
const aBool = required(isBool);
const aLabel = required(isLabel);
const aScalar = required(isScalar);

/** A number, a bool, an enum value or a literal in prose. */
export const SCALARS = group('scalars in prose', {
  'alone with white space': { fits: aScalar, damage: (draw) => `\n  ${plain(draw)}\n\n` },
  'with a full stop': { fits: aScalar, damage: (draw) => `${plain(draw)}.` },
  bold: { fits: aScalar, damage: (draw) => `**${plain(draw)}**` },
  'in quotes': { fits: aScalar, damage: (draw) => `"${plain(draw)}"` },
  'in backticks': { fits: aScalar, damage: (draw) => `\`${plain(draw)}\`` },
  'in a fence': { fits: aScalar, damage: (draw) => fenced(plain(draw)) },
  label: {
    fits: aScalar,
    damage: (draw) => `${draw.random.pick(['Answer', 'Result', 'Output', 'Final answer'])}: ${plain(draw)}`,
  },
  'bold label': { fits: aScalar, damage: (draw) => `**Answer:** ${plain(draw)}` },
  'in a box': { fits: aScalar, damage: (draw) => `The computation gives $\\boxed{${plain(draw)}}$.` },
  'in a box after other numbers': {
    fits: aNumber,
    damage: (draw) => `We have 12 + 7 = 19 and 3 steps, so:\n\n\\[\n\\boxed{${plain(draw)}}\n\\]`,
  },
  'in a sentence': {
    fits: required((subject) => isNumber(subject) || isLabel(subject)),
    damage: (draw) => `The answer is ${plain(draw)}.`,
  },
  'bold in a sentence': { fits: aScalar, damage: (draw) => `The correct answer is **${plain(draw)}**.` },
  'final answer after other numbers': {
    fits: aNumber,
    damage: (draw) => {
      const { random } = draw;
      const [a, b] = [random.int(2, 90), random.int(2, 90)];
      return `First I count ${a} items, then ${b} more. 2 of them are duplicates.\n\nFinal answer: ${plain(draw)}`;
    },
  },
  'answer after other numbers, all in a tag': {
    fits: aNumber,
    damage: (draw) =>
      `<answer>\nI count ${draw.random.int(2, 90)} items, and ${draw.random.int(2, 90)} more.\n\nAnswer: ${plain(draw)}\n</answer>`,
  },
  'bold after other numbers': {
    fits: aNumber,
    damage: (draw) =>
      `There are ${draw.random.int(2, 9)} groups with ${draw.random.int(10, 90)} members each, minus 3. The total is **${plain(draw)}**.`,
  },
  'last line after reasoning with numbers': {
    fits: aNumber,
    damage: (draw) =>
      `Step 1: ${draw.random.int(2, 9)} boxes.\nStep 2: ${draw.random.int(10, 90)} in each box.\nStep 3: multiply.\n\n${plain(draw)}`,
  },
  'after think tags with numbers': {
    fits: aNumber,
    damage: (draw) => `<think>\nIs it ${draw.random.int(2, 90)}? No: 4 of 10 are missing.\n</think>\n${plain(draw)}`,
  },
  'with a unit': {
    fits: aNumber,
    damage: (draw) => `${plain(draw)} ${draw.random.pick(['apples', 'kg', 'people', 'days'])}`,
  },
  'in answer tags after a thought': {
    fits: aScalar,
    damage: (draw) => {
      const tag = draw.random.pick(['answer', 'result', 'output']);
      return `Let me think about ${draw.random.int(2, 9)} options.\n<${tag}>${plain(draw)}</${tag}>`;
    },
  },
  'after a year in a sentence': { fits: aNumber, damage: (draw) => `As of 2024, the answer is ${plain(draw)}.` },
  'label with a confidence': { fits: aLabel, damage: (draw) => `Category: ${plain(draw)} (confidence: 0.92)` },
  'yes or no after a label': {
    fits: aBool,
    damage: (draw) =>
      `${draw.random.pick(['Answer', 'Final answer', 'Result'])}: ${draw.value === true ? 'Yes' : 'No'}`,
  },
  'yes or no in a sentence': { fits: aBool, damage: (draw) => `The answer is ${draw.value === true ? 'yes' : 'no'}.` },
  'with a unit in a sentence': {
    fits: aNumber,
    damage: (draw) => `It takes ${plain(draw)} ${draw.random.pick(['days', 'minutes'])}.`,
  },
  'with a currency sign': { fits: aNumber, damage: (draw) => (Number(draw.value) < 0 ? undefined : `$${plain(draw)}`) },
  'with commas between thousands': {
    fits: aNumber,
    damage: (draw) => (Math.abs(Number(draw.value)) < 1000 ? undefined : Number(draw.value).toLocaleString('en-US')),
  },
  'two numbers': {
    fits: aNumber,
    damage: (draw) => ({ reply: `It is between ${plain(draw)} and ${Number(draw.value) + 7}.`, truth: REFUSAL }),
  },
  'bool with an explanation': {
    fits: aBool,
    damage: (draw) => {
      const text = draw.value === true ? 'True' : 'False';
      return `${text}. ${draw.random.pick(['The text states this in the first sentence.', 'Two sources agree.', 'This follows from the second paragraph.'])}`;
    },
  },
  'bool at the end of a sentence': {
    fits: aBool,
    damage: (draw) => `I read the text twice; the statement is ${plain(draw)}.`,
  },
  'bool against a sentence': {
    fits: aBool,
    damage: (draw) => ({
      reply: `${draw.value === true ? 'True' : 'False'}. The statement "all are equal" is ${String(draw.value !== true)}.`,
      truth: REFUSAL,
    }),
  },
  'yes or no': { fits: aBool, damage: (draw) => (draw.value === true ? 'Yes' : 'No') },
  'bold yes or no': { fits: aBool, damage: (draw) => (draw.value === true ? '**Yes**' : '**No**') },
  'yes or no with a reason': {
    fits: aBool,
    damage: (draw) =>
      draw.value === true ? 'Yes, the text mentions it in the first line.' : 'No, nothing in the text supports it.',
  },
  'label in lower case': { fits: aLabel, damage: (draw) => different(plain(draw).toLowerCase(), draw) },
  'label in Title Case': { fits: aLabel, damage: (draw) => different(titleCase(plain(draw)), draw) },
  'label with spaces': {
    fits: aLabel,
    damage: (draw) => different(plain(draw).replaceAll('_', ' ').toLowerCase(), draw),
  },
  'label in a sentence with a reason': {
    fits: aLabel,
    damage: (draw) => `I would classify this as ${plain(draw)}, because the tone of the text is unmistakable.`,
  },
  'label and a reason after a hyphen': {
    fits: aLabel,
    damage: (draw) => `${plain(draw)} - the first sentence shows it`,
  },
  'label, then a reason on the next lines': {
    fits: aLabel,
    damage: (draw) => `${plain(draw)}\n\nReason: the text says so in its last paragraph.`,
  },
  'label after the options': {
    fits: aLabel,
    damage: (draw) => {
      const all = labelsOf(draw);
      return `The options are ${all.join(', ')}.\n\nFinal answer: ${plain(draw)}`;
    },
  },
  'label, bold, after others were discussed': {
    fits: aLabel,
    damage: (draw) => {
      const other = otherLabel(draw);
      return `At first sight this looks like ${other}, but the last sentence changes that.\n\n**${plain(draw)}**`;
    },
  },
  'label against another': {
    fits: aLabel,
    damage: (draw) => `It is not ${otherLabel(draw)}. The answer is ${plain(draw)}.`,
  },
  'label only denied': {
    fits: aLabel,
    damage: (draw) =>
      labelsOf(draw).length < 3
        ? undefined
        : { reply: `It is not ${plain(draw)}, and I cannot decide between the others.`, truth: REFUSAL },
  },
  'several labels': {
    fits: aLabel,
    damage: (draw) => ({ reply: `It could be ${plain(draw)} or ${otherLabel(draw)}.`, truth: REFUSAL }),
  },
  'all labels listed': {
    fits: aLabel,
    damage: (draw) => ({ reply: labelsOf(draw).join(', '), truth: REFUSAL }),
  },
  'label in brackets': {
    fits: aLabel,
    damage: (draw) => {
      const [open, close] = draw.random.pick([
        ['[', ']'],
        ['(', ')'],
        ['<', '>'],
        ['«', '»'],
      ] as const);
      return `${open}${plain(draw)}${close}`;
    },
  },
  'label with an emoji': { fits: aLabel, damage: (draw) => `${draw.random.pick(['✅', '😊', '👉'])} ${plain(draw)}` },
  'label twice': { fits: aLabel, damage: (draw) => `${plain(draw)}\n\n**${plain(draw)}**` },
  'label with escaped underscores': {
    fits: aLabel,
    damage: (draw) => different(plain(draw).replaceAll('_', String.raw`\_`), draw),
  },
  'label in other case in a sentence': {
    fits: aLabel,
    damage: (draw) => `I think this one is ${plain(draw).replaceAll('_', ' ').toLowerCase()}.`,
  },
  'approximate number in a sentence': {
    fits: aNumber,
    damage: (draw) => `The answer is approximately ${plain(draw)}.`,
  },
  'number of dollars': {
    fits: aNumber,
    damage: (draw) => (Number(draw.value) < 0 ? undefined : `${draw.random.pick(['USD', 'EUR'])} ${plain(draw)}`),
  },
  'label in an object': {
    fits: aLabel,
    damage: (draw) => `{"${draw.random.pick(['label', 'category', 'answer', 'value'])}": "${plain(draw)}"}`,
  },
  'other words of the language': {
    fits: aNumber,
    damage: (draw): Damaged => ({ reply: `Die Antwort lautet: ${plain(draw)}`, truth: valueTruth(draw.value) }),
  },
});

/** The value without quotes. */
function plain(draw: Draw): string {
  return draw.tree.kind === 'text' ? draw.tree.text : draw.write({});
}

function titleCase(text: string): string {
  return text.toLowerCase().replaceAll(/(?:^|[_ ])\w/gu, (start) => start.toUpperCase());
}

function different(text: string, draw: Draw): string | undefined {
  return text === plain(draw) ? undefined : text;
}

/** All labels, as the model knows them. */
function labelsOf(draw: Draw): readonly string[] {
  const shape = core(draw.shape);
  if (shape.kind === 'enum') return shape.values.map(({ name, alias }) => alias ?? name);
  const literals = shape.kind === 'union' ? shape.members : [shape];
  return literals.flatMap((member) => (member.kind === 'literal' ? [String(member.value)] : []));
}

function otherLabel(draw: Draw): string {
  return draw.random.pick(labelsOf(draw).filter((label) => label !== plain(draw)));
}
