import { group, isAnything, isObject } from '../kind.ts';
import { intro, outro } from '../phrases.ts';

const FENCE = '```';

/** The value is intact; something is around it. */
export const AROUND = group('fences and prose', {
  'JSON alone': { fits: isAnything, damage: (draw) => draw.json() },
  'fence with a tag': (draw) => fenced(draw.json(), 'json'),
  'fence without a tag': (draw) => fenced(draw.json()),
  'fence with another tag': (draw) =>
    fenced(
      draw.json(),
      draw.random.pick(['JSON', 'json5', 'javascript', 'js', 'python', 'text', 'plaintext', 'jsonc']),
    ),
  'fence between sentences': (draw) =>
    `${intro(draw.random)}\n\n${fenced(draw.json(), 'json')}\n\n${outro(draw.random)}`,
  'fence directly after a sentence': (draw) =>
    `${intro(draw.random)} ${fenced(draw.json(), 'json')} ${outro(draw.random)}`,
  'fence that is not closed': (draw) => `${intro(draw.random)}\n\n${FENCE}json\n${draw.json()}`,
  'fence that is only closed': (draw) => `${draw.json()}\n${FENCE}`,
  'fence on one line': (draw) => `${FENCE}json ${draw.write({})} ${FENCE}`,
  'fence closed after the last bracket': (draw) => `${FENCE}json\n${draw.json()}${FENCE}`,
  'fence of four backticks': (draw) => `${intro(draw.random)}\n\n\`${FENCE}json\n${draw.json()}\n\`${FENCE}`,
  'fence of tildes': (draw) => `${intro(draw.random)}\n\n~~~json\n${draw.json()}\n~~~\n\n${outro(draw.random)}`,
  'fence in a list item': (draw) =>
    `1. ${intro(draw.random)}\n\n${indented(fenced(draw.write(), 'json'), '   ')}\n\n2. ${outro(draw.random)}`,
  'fence in a fence': (draw) => `${FENCE}\n${fenced(draw.json(), 'json')}\n${FENCE}`,
  'single backticks': (draw) => `${intro(draw.random)} \`${draw.write({})}\``,
  'the word json before': (draw) => `json\n${draw.json()}`,
  'sentence before': (draw) => `${intro(draw.random)}\n${draw.json()}`,
  'sentence after': (draw) => `${draw.json()}\n\n${outro(draw.random)}`,
  'sentences around': (draw) => `${intro(draw.random)}\n\n${draw.json()}\n\n${outro(draw.random)}`,
  'on the line of a sentence': (draw) => `${intro(draw.random)} ${draw.write({})} ${outro(draw.random)}`,
  'sentences of another language': (draw) => {
    const [before, after] = draw.random.pick([
      ['Hier ist das Ergebnis:', 'Sag mir gern, ob etwas fehlt.'],
      ['以下是结果：', '如有需要，请告诉我。'],
      ['Voici le résultat :', "N'hésitez pas à demander."],
      ['Aquí está el resultado:', 'Avísame si falta algo.'],
    ] as const);
    return `${before}\n\n${draw.random.chance(0.5) ? fenced(draw.json(), 'json') : draw.json()}\n\n${after}`;
  },
  'heading and rule': (draw) => `## Result\n\n---\n\n${draw.json()}\n\n---\n\n*${outro(draw.random)}*`,
  'bold label': (draw) => `**Answer:**\n\n${draw.json()}`,
  'bold around': (draw) => `**${draw.write({})}**`,
  'byte order mark and white space': (draw) => `\uFEFF\n\n\u00A0 ${draw.json()} \u200B\n\n`,
  'Windows line ends': (draw) => `${intro(draw.random)}\n\n${fenced(draw.write(), 'json')}\n`.replaceAll('\n', '\r\n'),
  'explanation of each field after': {
    fits: isObject,
    damage: (draw) => {
      const { tree } = draw;
      if (tree.kind !== 'object') return undefined;
      const lines = tree.members.map(({ key }) => `- **${key}**: taken from the text as it is.`);
      return `${fenced(draw.json(), 'json')}\n\n### Explanation\n\n${lines.join('\n')}`;
    },
  },
  'sentence inside the fence': (draw) => `${FENCE}json\n${intro(draw.random)}\n${draw.json()}\n${FENCE}`,
  'list item with a label': (draw) => `- Input: the text\n- Result: ${draw.write({})}`,
  'fence with a file name': (draw) => `\`result.json\`\n\n${FENCE}json title="result.json"\n${draw.json()}\n${FENCE}`,
  'fence opened twice': (draw) => `${FENCE}json\n${fenced(draw.json(), 'json')}`,
  'fence closed twice': (draw) => `${fenced(draw.json(), 'json')}\n${FENCE}`,
  'fence of apostrophes or quotes': (draw) => {
    const fence = draw.random.pick(["'''", '"""']);
    return `${fence}json\n${draw.json()}\n${fence}`;
  },
  'fence after a fence of prose': (draw) => `${fenced(outro(draw.random), 'text')}\n\n${fenced(draw.json(), 'json')}`,
  'code block by indentation': (draw) =>
    `${intro(draw.random)}\n\n${indented(draw.write(), '    ')}\n\n${outro(draw.random)}`,
  'details block': (draw) => `<details>\n<summary>Result</summary>\n\n${fenced(draw.json(), 'json')}\n\n</details>`,
  'the word json on the same line': (draw) => `json ${draw.write({})}`,
  'full stop after the value': (draw) => `${intro(draw.random)} ${draw.write({})}.`,
  'emoji around': (draw) => `✅ ${draw.json()} 🎉`,
  'the value three times': (draw) => [draw.write(), draw.write(), draw.write()].join('\n\n'),
  'check of the answer after': (draw) =>
    `${draw.json()}\n\nWait, let me double-check the values. Yes, everything is correct.`,
  'confidence after': (draw) => `${draw.json()}\n\nConfidence: 95% (high)`,
  'non-breaking and zero-width spaces': (draw) =>
    draw
      .write()
      .replaceAll('\n  ', '\n\u00A0\u00A0')
      .replaceAll(/([{[])\n/gu, '$1\u200B\n'),
  'line breaks between tokens written as escapes': (draw) => draw.write().replaceAll('\n', String.raw`\n`),
  'steps of an agent': (draw) =>
    `Thought: I have read the text and know the answer.\nAction: Final Answer\nAction Input: ${draw.write({})}`,
  'assistant label': (draw) => `Assistant: ${draw.json()}`,
});

export function fenced(body: string, tag = ''): string {
  return `${FENCE}${tag}\n${body}\n${FENCE}`;
}

function indented(text: string, margin: string): string {
  return text
    .split('\n')
    .map((line) => (line === '' ? line : margin + line))
    .join('\n');
}
