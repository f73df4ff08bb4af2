import { fenced, group, refusals, refused, plain } from '../group.ts';
import {
  both,
  core,
  has,
  isAnything,
  isBool,
  isComposite,
  isLabel,
  isNumber,
  isObject,
  isScalar,
  type Draw,
  type Kind,
  type Way,
} from '../kind.ts';

const FENCE = '```';

/** The value is intact; something is around it. */
const AROUND = group('fences and prose', {
  'JSON alone': {
    fits: isAnything,
    ways: ['<<json>>', 'json\n<<json>>', 'json <<line>>', '\uFEFF\n\n\u00A0 <<json>> \u200B\n\n'],
  },
  'fence with or without a tag': ['', 'json', 'JSON', 'json5', 'jsonc', 'javascript', 'python', 'text'].map(
    (tag) => (draw) => fenced(draw.json(), tag),
  ),
  'fence between sentences': [
    '<<intro>>\n\n<<fence>>\n\n<<outro>>',
    '<<intro>> <<fence>> <<outro>>',
    `<<intro>>\n\n\`${FENCE}json\n<<json>>\n\`${FENCE}`,
    '<<intro>>\n\n~~~json\n<<json>>\n~~~\n\n<<outro>>',
    '<details>\n<summary>Result</summary>\n\n<<fence>>\n\n</details>',
    `\`result.json\`\n\n${FENCE}json title="result.json"\n<<json>>\n${FENCE}`,
    `${FENCE}text\n<<outro>>\n${FENCE}\n\n<<fence>>`,
    (draw) => `Here it is:\n\n${fenced(draw.write(), 'json')}\n`.replaceAll('\n', '\r\n'),
    (draw) => `1. Result:\n\n${indented(fenced(draw.write(), 'json'), '   ')}\n\n2. Nothing else.`,
  ],
  'fence with a mistake': [
    `<<intro>>\n\n${FENCE}json\n<<json>>`,
    `<<json>>\n${FENCE}`,
    `${FENCE}json <<line>> ${FENCE}`,
    `${FENCE}json\n<<json>>${FENCE}`,
    `${FENCE}\n<<fence>>\n${FENCE}`,
    `${FENCE}json\n<<fence>>`,
    `<<fence>>\n${FENCE}`,
    `${FENCE}json\n<<intro>>\n<<json>>\n${FENCE}`,
    "'''json\n<<json>>\n'''",
    '"""json\n<<json>>\n"""',
    '<<intro>> `<<line>>`',
  ],
  'sentences around': [
    '<<intro>>\n<<json>>',
    '<<json>>\n\n<<outro>>',
    '<<intro>>\n\n<<json>>\n\n<<outro>>',
    '<<intro>> <<line>> <<outro>>',
    '<<intro>> <<line>>.',
    'Hier ist das Ergebnis:\n\n<<either>>\n\nSag mir gern, ob etwas fehlt.',
    '以下是结果：\n\n<<either>>\n\n如有需要，请告诉我。',
    "Voici le résultat :\n\n<<either>>\n\nN'hésitez pas à demander.",
    (draw) => `The result:\n\n${indented(draw.write(), '    ')}\n\nDoes this help?`,
  ],
  'Markdown around': [
    '## Result\n\n---\n\n<<json>>\n\n---\n\n*<<outro>>*',
    '**Answer:**\n\n<<json>>',
    '**<<line>>**',
    '- Input: the text\n- Result: <<line>>',
    '✅ <<json>> 🎉',
    (draw) => `Here it is:\n\n${quoted(draw.write())}`,
    (draw) => `Here it is:\n\n${quoted(fenced(draw.write(), 'json'))}`,
  ],
  'remarks about the value': [
    '<<json>>\n\nWait, let me double-check the values. Yes, everything is correct.',
    '<<json>>\n\nConfidence: 95% (high)',
    '<<json>>\n\nI corrected the spelling and fixed the formatting.',
    '<<json>>\n\nNote: errors in the source were corrected. Actually, the text mentions most of it twice.',
    '<<json>>\n\nSorry for the delay! Let me know if I should change anything.',
  ],
  'labels of an agent': [
    'Thought: I have read the text and know the answer.\nAction: Final Answer\nAction Input: <<line>>',
    'Assistant: <<json>>',
    'Reasoning: <<thought>>\nAnswer: <<line>>',
  ],
  'explanation of each field after': {
    fits: isObject,
    ways: [
      (draw) => {
        const lines = keysOf(draw).map((key) => `- **${key}**: taken from the text as it is.`);
        return lines.length === 0
          ? undefined
          : `${fenced(draw.json(), 'json')}\n\n### Explanation\n\n${lines.join('\n')}`;
      },
    ],
  },
  'odd white space': [
    (draw) =>
      draw
        .write()
        .replaceAll('\n  ', '\n\u00A0\u00A0')
        .replaceAll(/([{[])\n/gu, '$1\u200B\n'),
    (draw) => draw.write().replaceAll('\n', String.raw`\n`),
  ],
  'special tokens': [
    ...['<|im_end|>', '</s>', '<|eot_id|>', '<|endoftext|>', '<end_of_turn>', '[/INST]'].map(
      (token) => `<<json>>${token}`,
    ),
    '<|im_start|>assistant\n<<json>><|im_end|>\n',
    '<s>[INST] <<json>> </s>',
    '<|start_header_id|>assistant<|end_header_id|>\n\n<<json>><|eot_id|>',
  ],
  tags: [
    ...['answer', 'json', 'output', 'result', 'response'].map((tag) => `<${tag}>\n<<json>>\n</${tag}>`),
    '<answer><<line>></answer>',
    '<pre><code class="language-json"><<block>></code></pre>',
    '<result><![CDATA[<<line>>]]></result>',
    '<function=extract><<line>></function>',
  ],
});

/** Reasoning before the answer. */
const THOUGHTS = group('thoughts', {
  'think tags': [
    '<think>\n<<thought>>\n</think>\n\n<<either>>',
    '<think>\nFirst idea: <<draft>>\nNo, that does not match the text.\n</think>\n<<json>>',
    `<think>\nMaybe\n${FENCE}json\n<<draft>>\n${FENCE}\nbut the second value is wrong.\n</think>\n\n<<either>>`,
    'Okay, the user wants JSON. Perhaps <<draft>>? Let me look again.\n</think>\n\n<<either>>',
  ],
  'other tags and channels': [
    ...['thinking', 'reasoning', 'scratchpad', 'analysis', 'reflection'].map(
      (tag) => `<${tag}>\n<<thought>>\nA first version: <<draft>>\n</${tag}>\n\n<<either>>`,
    ),
    '<thinking><<thought>></thinking><answer>\n<<json>>\n</answer>',
    '<|channel|>analysis<|message|><<thought>><|end|><|start|>assistant<|channel|>final<|message|><<json>>',
  ],
  'steps before the answer': [
    'Let me think step by step.\n\n1. The text has <<n>> sentences.\n2. Each of them names [one] value.\n3. I collect them.\n\n<<either>>',
    '> *Thinking:* <<thought>>\n\n<<either>>',
  ],
  'a thought that is not closed': { clear: false, ways: ['<think>\n<<thought>>\n\n<<json>>'] },
  'a value that a thought dismisses': refusals(
    '<think>\nMaybe <<line>>? No, that is invented.\n</think>\n\nThe text does not contain this information.',
  ),
});

/** Brackets, code and interfaces that are not the value. */
const BRACKETS = group('brackets, code and interfaces in prose', {
  'citations and footnotes': [
    '<<either>>\n\nSources: [1], [2]',
    '<<either>>\n\n[1] Annual report, [2] Press release',
    '<<either>>\n\n[^1]: As stated in the second paragraph.',
    'According to the report [1] and its appendix [2], the result is:\n\n<<either>>',
    'I looked at [the documentation](https://example.com/docs) and [this page](https://example.com/a[1]).\n\n<<either>>',
  ],
  'brackets that are mentioned': [
    '<<either>>\n\nI used {} for missing objects and [] for missing lists.',
    'I return [] when a list is empty and {} when an object is.\n\n<<either>>',
    'I replaced {name} and {{date}} with the values from the text.\n\n<<either>>',
    '<<either>>\n\nReplace {your_id} where needed.',
    'Let S = {1, 2, 3} and x in [0, 1]. Then the answer is:\n\n<<either>>',
    '<<either>>\n\nAll numbers are within the range [0, 100].',
    'I matched the text with [a-z]+\\d{2,4} and got:\n\n<<either>>',
    'The text says "price: {see table}" and "[redacted]".\n\n<<either>>',
  ],
  'check lists and logs': [
    '- [x] Read the text\n- [x] Extract the values\n- [ ] Ask for missing values\n\n<<either>>',
    '<<either>>\n\n- [x] valid JSON\n- [x] all fields given',
    '[INFO] extraction started\n[INFO] extraction finished {status: ok}\n<<json>>',
  ],
  'code and interfaces': [
    '<<interface>>\n\n<<json>>',
    '<<interface>>\n\nThe value:\n\n<<fence>>',
    '<<code>>\n\nThe output of this code:\n\n<<json>>',
    '<<code>>\n\nThis gives:\n\n<<fence>>',
    '<<either>>\n\nYou can load it like this:\n\n<<code>>',
  ],
  'the schema before the answer': {
    fits: isObject,
    ways: [
      (draw) => `The schema is:\n\n${fenced(schemaOf(draw), 'json')}\n\nThe data:\n\n${fenced(draw.json(), 'json')}`,
      (draw) => {
        const lines = keysOf(draw).map((key) => `  ${/^\w+$/u.test(key) ? key : JSON.stringify(key)}: string,`);
        return `Following the schema\n{\n${lines.join('\n')}\n}\nI get:\n${draw.write()}`;
      },
    ],
  },
  'a value named in backticks': {
    fits: both(isComposite, has('class')),
    ways: ['The field `{"items": []}` does not apply here, so this is the result:\n\n<<either>>'],
  },
});

const FENCED_DRAFT = `${FENCE}json\n<<draft>>\n${FENCE}`;
const FENCED_ANSWER = `${FENCE}json\n<<answer>>\n${FENCE}`;

/** The reply contains the value and an earlier or another one. */
const CORRECTIONS = group('drafts and corrections', {
  'a draft and its correction': [
    `${FENCED_DRAFT}\n\n<<correction>>\n\n${FENCED_ANSWER}`,
    `${FENCED_DRAFT}\n\n<<correction>>\n\n<<answer>>`,
    `<<draft>>\n\n<<correction>>\n\n${FENCED_ANSWER}`,
    '<<draft>>\n\n<<correction>>\n\n<<answer>>',
  ],
  'labels of draft and final answer': [
    `## Draft\n\n${FENCED_DRAFT}\n\n## Final answer\n\n${FENCED_ANSWER}`,
    `**Initial attempt:**\n\n${FENCED_DRAFT}\n\n**Final JSON:**\n\n${FENCED_ANSWER}`,
    `### First version\n\n${FENCED_DRAFT}\n\n### Corrected version\n\n${FENCED_ANSWER}`,
    'Draft: <<draft>>\n\nFinal: <<answer>>',
    '**First attempt (wrong):**\n\n<<draft>>\n\n**Corrected:**\n\n<<json>>',
    'Old (outdated):\n\n<<draft>>\n\nNew (current):\n\n<<json>>',
    'Previously:\n<<draft>>\n\nUpdated:\n<<answer>>',
    'Updated:\n<<answer>>\n\nPreviously:\n<<draft>>',
    `Before:\n${FENCED_DRAFT}\n\nAfter:\n${FENCED_ANSWER}`,
    (draw) => {
      const draft = draw.another();
      return draft && `Before correction:\n${draft.write()}\n\nAfter correction:\n${quoted(draw.write())}`;
    },
  ],
  'an example and the answer': [
    `For example, the format looks like this:\n\n${FENCED_DRAFT}\n\nAnd here is the actual answer:\n\n${FENCED_ANSWER}`,
    `An example:\n\n${FENCED_DRAFT}\n\nThe answer for the given text is:\n\n${FENCED_ANSWER}`,
    'The format is for example <<draft>>.\n\n<<answer>>',
    '<<answer>>\n\nFor example, another text would give:\n\n<<draft>>',
    `Here is the answer:\n\n${FENCED_ANSWER}\n\nDo not use this earlier, incorrect version:\n\n${FENCED_DRAFT}`,
    `Here is the answer:\n\n${FENCED_ANSWER}\n\nNote that the following would be wrong:\n\n${FENCED_DRAFT}`,
  ],
  'the input and the answer': [
    `You provided:\n\n${FENCED_DRAFT}\n\nThe result:\n\n${FENCED_ANSWER}`,
    'Input:\n<<draft>>\n\nOutput:\n<<answer>>',
  ],
  'the same value again': [
    '<<line>>\n\nFormatted for readability:\n\n```json\n<<block>>\n```',
    '<<fence>>\n\nLet me check this against the text. Everything matches, so the final answer is:\n\n<<fence>>',
    '<<block>>\n\n<<block>>\n\n<<block>>',
  ],
  'another object': [
    '{"thoughts": "I compare both parts first.", "next_step": "answer"}\n\n<<json>>',
    '<<json>>\n\n{"note": "All values are from the text."}',
  ],
});

const required = (filter: Kind['fits']): Kind['fits'] => both(filter, ({ shape }) => core(shape) === shape);
const aNumber = required(isNumber);
const aBool = required(isBool);
const aLabel = required(isLabel);
const aScalar = required(isScalar);

/** A number, a bool, an enum value or a literal in prose. */
const SCALARS = group('scalars in prose', {
  'with marks around': {
    fits: aScalar,
    ways: [
      '\n  <<plain>>\n\n',
      '<<plain>>.',
      '**<<plain>>**',
      '"<<plain>>"',
      '`<<plain>>`',
      '```\n<<plain>>\n```',
      '$\\boxed{<<plain>>}$',
    ],
  },
  'after a label': {
    fits: aScalar,
    ways: [
      ...['Answer: ', 'Result: ', 'Output: ', 'Final answer: ', '**Answer:** '].map((label) => `${label}<<plain>>`),
      ...['answer', 'result', 'output'].map((tag) => `Let me think about <<n>> options.\n<${tag}><<plain>></${tag}>`),
      'The correct answer is **<<plain>>**.',
    ],
  },
  'a number after other numbers': {
    fits: aNumber,
    ways: [
      'We have 12 + 7 = 19 and 3 steps, so:\n\n\\[\n\\boxed{<<plain>>}\n\\]',
      'First I count <<n>> items, then <<n>> more. 2 of them are duplicates.\n\nFinal answer: <<plain>>',
      '<answer>\nI count <<n>> items, and <<n>> more.\n\nAnswer: <<plain>>\n</answer>',
      'There are <<n>> groups with 12 members each, minus 3. The total is **<<plain>>**.',
      'Step 1: <<n>> boxes.\nStep 2: <<n>> in each box.\nStep 3: multiply.\n\n<<plain>>',
      '<think>\nIs it <<n>>? No: 4 of 10 are missing.\n</think>\n<<plain>>',
      'As of 2024, the answer is <<plain>>.',
    ],
  },
  'a number in a sentence': {
    fits: aNumber,
    ways: [
      ...['apples', 'kg', 'people', 'days'].map((unit) => `<<plain>> ${unit}`),
      'The answer is <<plain>>.',
      'The answer is approximately <<plain>>.',
      'It takes <<plain>> minutes.',
      'Die Antwort lautet: <<plain>>',
      ...['$', 'USD ', 'EUR '].map(
        (sign): Way =>
          (draw) =>
            Number(draw.value) < 0 ? undefined : sign + plain(draw),
      ),
      (draw) => (Math.abs(Number(draw.value)) < 1000 ? undefined : Number(draw.value).toLocaleString('en-US')),
    ],
  },
  'two numbers': {
    fits: aNumber,
    ways: [(draw) => refused(`It is between ${plain(draw)} and ${Number(draw.value) + 7}.`)],
  },
  'a bool in words': {
    fits: aBool,
    ways: [
      ...['Answer: ', 'Final answer: ', '', 'The answer is '].map(
        (start): Way =>
          (draw) =>
            start + (draw.value === true ? 'Yes' : 'No'),
      ),
      (draw) => (draw.value === true ? '**Yes**' : '**No**'),
      (draw) =>
        draw.value === true ? 'Yes, the text mentions it in the first line.' : 'No, nothing in the text supports it.',
      'I read the text twice; the statement is <<plain>>.',
      (draw) => `${draw.value === true ? 'True' : 'False'}. The text states this in the first sentence.`,
    ],
  },
  'a bool and its opposite': {
    fits: aBool,
    ways: [(draw) => refused(`${plain(draw)}. The statement "all are equal" is ${String(draw.value !== true)}.`)],
  },
  'a label in another spelling': {
    fits: aLabel,
    ways: [
      relabelled((label) => label.toLowerCase()),
      relabelled((label) => label.toLowerCase().replaceAll(/(?:^|[_ ])\w/gu, (start) => start.toUpperCase())),
      relabelled((label) => label.replaceAll('_', ' ').toLowerCase()),
      relabelled((label) => label.replaceAll('_', String.raw`\_`)),
      '[<<plain>>]',
      '(<<plain>>)',
      '< <<plain>> >',
      '«<<plain>>»',
      '✅ <<plain>>',
      '👉 <<plain>>',
      '<<plain>>\n\n**<<plain>>**',
      ...['label', 'category', 'answer', 'value'].map((key) => `{"${key}": "<<plain>>"}`),
    ],
  },
  'a label in a sentence': {
    fits: aLabel,
    ways: [
      'The answer is <<plain>>.',
      'Category: <<plain>> (confidence: 0.92)',
      'I would classify this as <<plain>>, because the tone of the text is unmistakable.',
      '<<plain>> - the first sentence shows it',
      '<<plain>>\n\nReason: the text says so in its last paragraph.',
      (draw) => `I think this one is ${plain(draw).replaceAll('_', ' ').toLowerCase()}.`,
    ],
  },
  'a label after others': {
    fits: aLabel,
    ways: [
      'The options are <<labels>>.\n\nFinal answer: <<plain>>',
      'At first sight this looks like <<other>>, but the last sentence changes that.\n\n**<<plain>>**',
      'It is not <<other>>. The answer is <<plain>>.',
    ],
  },
  'several labels': { fits: aLabel, ways: refusals('It could be <<plain>> or <<other>>.', '<<labels>>') },
});

export const PROSE: readonly Kind[] = [...AROUND, ...THOUGHTS, ...BRACKETS, ...CORRECTIONS, ...SCALARS];

function relabelled(change: (label: string) => string): Way {
  return (draw) => (change(plain(draw)) === plain(draw) ? undefined : change(plain(draw)));
}

/** The keys of the root, as the model writes them. */
export function keysOf({ tree }: Draw): readonly string[] {
  return tree.kind === 'object' ? tree.members.map(({ key }) => key) : [];
}

/** A JSON Schema of the value, in which all members are strings. */
export function schemaOf(draw: Draw): string {
  const properties = Object.fromEntries(keysOf(draw).map((key) => [key, { type: 'string' }]));
  return JSON.stringify({ type: 'object', properties, required: Object.keys(properties) }, undefined, 2);
}

function indented(text: string, margin: string): string {
  return text.replaceAll(/^(?=.)/gmu, margin);
}

function quoted(text: string): string {
  return text.replaceAll(/^/gmu, '> ');
}
