import { group, type Draw } from '../kind.ts';
import { fenced } from './around.ts';

/** Reasoning before the answer. */
export const THOUGHTS = group('thoughts', {
  'think tags': (draw) => `<think>\n${thought(draw)}\n</think>\n\n${draw.json()}`,
  'think tags, fenced answer': (draw) => `<think>\n${thought(draw)}\n</think>\n\n${fenced(draw.json(), 'json')}`,
  'think tags with a draft': (draw) => {
    const draft = draw.another();
    if (draft === undefined) return undefined;
    return `<think>\nFirst idea: ${draft.write({})}\nNo, that does not match the text.\n</think>\n${draw.json()}`;
  },
  'think tags with a fenced draft': (draw) => {
    const draft = draw.another();
    if (draft === undefined) return undefined;
    return `<think>\nMaybe\n${fenced(draft.write(), 'json')}\nbut the second value is wrong.\n</think>\n\n${either(draw)}`;
  },
  'only the closing think tag': (draw) => {
    const draft = draw.another();
    if (draft === undefined) return undefined;
    return `Okay, the user wants JSON. Perhaps ${draft.write({})}? Let me look again.\n</think>\n\n${either(draw)}`;
  },
  'other tags': (draw) => {
    const tag = draw.random.pick(['thinking', 'reasoning', 'scratchpad', 'analysis', 'reflection', 'thought']);
    const draft = draw.another();
    if (draft === undefined) return undefined;
    return `<${tag}>\n${thought(draw)}\nA first version: ${draft.write({})}\n</${tag}>\n\n${either(draw)}`;
  },
  'thought and answer tags': (draw) => `<thinking>${thought(draw)}</thinking>\n<answer>\n${draw.json()}\n</answer>`,
  'steps before the answer': (draw) =>
    `Let me think step by step.\n\n1. The text has ${draw.random.int(2, 9)} sentences.\n2. Each of them names [one] value.\n3. I collect them.\n\n${either(draw)}`,
  'analysis channel': (draw) =>
    `<|channel|>analysis<|message|>${thought(draw)}<|end|><|start|>assistant<|channel|>final<|message|>${draw.json()}`,
  'reasoning as the first line': (draw) =>
    `Reasoning: ${thought(draw).replaceAll('\n', ' ')}\nAnswer: ${draw.write({})}`,
  'thought in a block quote': (draw) => `> *Thinking:* ${thought(draw).replaceAll('\n', '\n> ')}\n\n${either(draw)}`,
  'thought that was not closed': {
    clear: false,
    damage: (draw) => `<think>\n${thought(draw)}\n\n${draw.json()}`,
  },
});

function thought({ random }: Draw): string {
  return random.pick([
    'The user wants structured data. I should use { and } and keep the order.',
    'Okay, so there are 3 values here: [first, second, third]. The format needs {key: value} pairs.\nI think I have everything.',
    'Let me see. "name" is given, the list is not empty.\n- check 1\n- check 2\nDone.',
    "I need to be careful: it's not clear whether 12 or 15 is right. The text says 15.",
  ]);
}

function either(draw: Draw): string {
  return draw.random.chance(0.5) ? draw.json() : fenced(draw.json(), 'json');
}
