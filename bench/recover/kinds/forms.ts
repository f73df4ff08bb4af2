import { fenced, group } from '../group.ts';
import {
  both,
  core,
  has,
  hasPart,
  isAnything,
  isBool,
  isComposite,
  isLabel,
  isLabelShape,
  isList,
  isListOf,
  isListOfObjects,
  isNumber,
  isObject,
  takesText,
  type Draw,
  type Kind,
  type Way,
} from '../kind.ts';
import type { ReplyTree, TextTree } from '../reply-tree.ts';
import type { Shape } from '../shape.ts';
import type { Spot } from '../write-tree.ts';
import { capital, partAs } from './json.ts';
import { keysOf } from './prose.ts';

const isScalarAnswer: Kind['fits'] = (subject) => isNumber(subject) || isBool(subject) || isLabel(subject);
/** A type that takes any JSON takes its wrapper too. */
const isNotJson: Kind['fits'] = (subject) =>
  isComposite(subject) && !hasPart(subject.shape, (part) => part.kind === 'alias' && part.name === 'AnyJson');

function wrapped(names: readonly string[], start = ''): readonly Way[] {
  return names.map((name) => (draw) => {
    if (keysOf(draw).some((key) => key === name || key === 'status')) return undefined;
    const inner = draw.json();
    return draw.random.chance(0.5)
      ? `{${start}"${name}": ${inner}}`
      : fenced(`{\n  ${start}"${name}": ${inner}\n}`, 'json');
  });
}

/** Each value of a flat object in a cell of its own. */
function cells(rest: string): Way {
  return (draw) => {
    const { tree } = draw;
    if (tree.kind !== 'object' || keysOf(draw).some((key) => key === 'value' || key === 'confidence')) return undefined;
    if (tree.members.some(({ value }) => value.kind === 'list' || value.kind === 'object')) return undefined;
    return draw.write({
      indent: 2,
      before: () => '',
      colon: () => ': {"value": ',
      comma: ({ isLast }) => `${rest}}${isLast ? '' : ','}`,
    });
  };
}

/** The value is in another form as a whole, or wrapped into another value. */
const FRAMES = group('frames', {
  'as a JSON string': [
    '<<string>>',
    '```json\n<<string>>\n```',
    (draw) => JSON.stringify(JSON.stringify(draw.write({}))),
    (draw) => JSON.stringify(draw.write({})).slice(1, -1),
    (draw) => JSON.stringify(draw.write()).slice(1, -1),
  ],
  'parts as JSON strings': {
    fits: isComposite,
    ways: (['object', 'list'] as const).map((kind) =>
      partAs(({ tree, index }, draw) =>
        index > 0 && tree.kind === kind && sizeOf(tree) > 0 ? JSON.stringify(draw.part(tree)) : undefined,
      ),
    ),
  },
  'schema echo with values': {
    fits: isObject,
    ways: [
      (draw) => (draw.tree.kind === 'object' ? `{"type": "object", "properties": ${draw.json()}}` : undefined),
      (draw) => {
        const required = JSON.stringify(keysOf(draw));
        return fenced(
          `{\n"title": "Result",\n"type": "object",\n"properties": ${draw.write()},\n"required": ${required}\n}`,
          'json',
        );
      },
    ],
  },
  'wrapper around the value': {
    fits: isNotJson,
    ways: [
      ...wrapped(['result', 'data', 'response', 'answer', 'output', 'json']),
      ...wrapped(['result', 'data'], '"status": "ok", '),
      '{"response": {"code": 200, "data": <<json>>}}',
      '{"role": "assistant", "content": <<string>>}',
    ],
  },
  'wrapper with the name of the type': {
    fits: both(isObject, ({ shape }) => core(shape).kind === 'class'),
    ways: [(name: string) => name, (name: string) => name.toLowerCase()].map(
      (spell): Way =>
        (draw) =>
          `{"${spell(draw.subject.name.replace('?', ''))}": ${draw.json()}}`,
    ),
  },
  'wrapper around a list': {
    fits: both(isNotJson, isList),
    ways: [
      ...wrapped(['items', 'results', 'list', 'values']),
      (draw) =>
        draw.tree.kind === 'list' ? `{"count": ${draw.tree.items.length}, "items": ${draw.json()}}` : undefined,
    ],
  },
  'wrapper around a scalar': {
    fits: isScalarAnswer,
    ways: [
      ...wrapped(['answer', 'result', 'value']),
      '{"reasoning": "I read the text twice and compared both parts.", "answer": <<json>>}',
    ],
  },
  'wrapper around an optional': {
    fits: both(isAnything, ({ shape }) => shape.kind === 'optional'),
    ways: wrapped(['result', 'answer', 'value']).map((way) => (draw) => (draw.value === null ? undefined : way(draw))),
  },
  'list of one': {
    fits: (subject) => isScalarAnswer(subject) || isObject(subject),
    ways: [(draw) => (draw.tree.kind === 'list' ? undefined : `[${draw.json()}]`)],
  },
  'list of one around a part, or one element instead': {
    fits: isComposite,
    ways: [
      partAs(({ tree, parent }, draw) =>
        parent === 'object' && tree.kind === 'object' && tree.role === 'class' ? `[${draw.part(tree)}]` : undefined,
      ),
      partAs(({ tree, parent }, draw) => {
        const [only, ...others] = tree.kind === 'list' ? tree.items : [];
        return parent === 'object' && only !== undefined && others.length === 0 && only.kind !== 'list'
          ? draw.part(only)
          : undefined;
      }),
    ],
  },
  'tool call': {
    fits: isNotJson,
    ways: [
      ...['submit_answer', 'extract', 'final_answer'].map((name) => `{"name": "${name}", "arguments": <<json>>}`),
      '{"name": "extract", "arguments": <<string>>}',
      '<tool_call>\n{"name": "extract", "parameters": <<line>>}\n</tool_call>',
      '{"type": "function", "function": {"name": "extract", "arguments": <<string>>}}',
      '[TOOL_CALLS] [{"name": "extract", "arguments": <<line>>}]',
    ],
  },
  'a cell around each value': { fits: isObject, ways: [cells(''), cells(', "confidence": 0.7')] },
  'events of a stream': {
    fits: isAnything,
    ways: [
      (draw) => {
        const parts = draw.json().match(/[^]{1,12}/gu) ?? [];
        const events = parts.map((text) => JSON.stringify({ type: 'content_block_delta', delta: { text } }));
        return `${events.map((event) => `event: content_block_delta\ndata: ${event}`).join('\n\n')}\n\ndata: [DONE]`;
      },
    ],
  },
});

// --- lists ------------------------------------------------------------------------------------------------------------

const isListOfTexts = isListOf((item) => item.kind === 'text');
const isListOfNumbers = isListOf((item) => item.kind === 'int' || item.kind === 'float');
const isListOfWords: Kind['fits'] = (subject) =>
  isListOfTexts(subject) || isListOfNumbers(subject) || isListOf(isLabelShape)(subject);

interface Layout {
  readonly separator?: string;
  readonly indent?: number;
  readonly around?: (text: string) => string;
}

const inBrackets = (text: string): string => `[${text}]`;

function items(spell: (item: string, at: number) => string, layout: Layout = {}): Way {
  const { separator = '\n', around = (text) => text, ...style } = layout;
  return ({ tree, part }) =>
    tree.kind === 'list' && tree.items.length > 0
      ? around(tree.items.map((item, at) => spell(part(item, style), at)).join(separator))
      : undefined;
}

function lines(spell: (text: string, at: number) => string, around = (text: string): string => text): Way {
  return (draw) =>
    draw.tree.kind === 'list'
      ? around(draw.tree.items.map((item, at) => spell(plainText(draw, item), at)).join('\n'))
      : undefined;
}

function plainText(draw: Draw, tree: ReplyTree): string {
  return tree.kind === 'text' ? tree.text : draw.part(tree);
}

const bullet = (text: string): string => `- ${text}`;

/** Lists without their brackets. */
const LISTS = group('lists', {
  bullets: {
    fits: isListOfTexts,
    ways: [
      ...['-', '*', '•'].map((sign) => lines((text) => `${sign} ${text}`)),
      lines(bullet, (text) => `Here are the values I found:\n\n${text}`),
      lines(bullet, (text) => `Here are the values I found:\n\n${text}\n\nLet me know if you need more!`),
      lines(bullet, (text) => fenced(text)),
    ],
  },
  'bullets of labels and numbers': {
    fits: both(isListOfWords, (subject) => !isListOfTexts(subject)),
    ways: [lines(bullet)],
  },
  'numbered lines': {
    fits: isListOfTexts,
    ways: [
      lines((text, at) => `${at + 1}. ${text}`),
      lines((text, at) => `${at + 1}) ${text}`),
      lines(
        (text, at) => `${at + 1}. ${text}`,
        (text) => `The list:\n\n${text}`,
      ),
    ],
  },
  'strings as objects with one member': {
    fits: isListOfTexts,
    ways: [items((item) => `{"item": ${item}}`, { separator: ', ', around: inBrackets })],
  },
  'numbers as strings': {
    fits: isListOfNumbers,
    ways: [items((item) => `"${item}"`, { separator: ', ', around: inBrackets })],
  },
  'one word per line': { fits: isListOfWords, clear: false, ways: [lines((text) => text)] },
  'objects without brackets around them': {
    fits: isListOfObjects,
    ways: [
      items((item) => item, { separator: '\n\n', indent: 2 }),
      items((item) => item, { separator: ',\n', indent: 2 }),
      items((item) => item),
      items((item) => item, { separator: '' }),
      items((item) => item, { separator: ', ' }),
      items((item) => item, { around: (text) => fenced(text, 'jsonl') }),
      items((item) => fenced(item, 'json'), { separator: '\n\n', indent: 2 }),
      items((item, at) => `### ${at + 1}\n\n${fenced(item, 'json')}`, { separator: '\n\n', indent: 2 }),
      items((item, at) => `${at + 1}. ${item}`),
      items(bullet),
    ],
  },
  'one row per line': {
    fits: isListOf((item) => item.kind === 'list'),
    ways: [items((item) => item), items((item) => item, { separator: ',\n' })],
  },
  'brackets twice around a list': { fits: isListOfWords, ways: ['[<<json>>]'] },
});

// --- other notations --------------------------------------------------------------------------------------------------

/** A class whose fields are strings, labels, numbers and bools. */
function isFlat(shape: Shape): boolean {
  return (
    shape.kind === 'class' &&
    shape.fields().every((field) => ['text', 'int', 'float', 'bool', 'enum'].includes(core(field.shape).kind))
  );
}

const isFlatObject: Kind['fits'] = (subject) => isObject(subject) && isFlat(core(subject.shape));
const isTable: Kind['fits'] = isListOf(isFlat);
const inWords = (key: string): string => capital(key.replaceAll('_', ' '));

/** One line for each member; values with nulls are left out, because their spelling would be a guess. */
function pairs(spell: (key: string, value: string) => string, around = (text: string): string => text): Way {
  return (draw) => {
    if (draw.tree.kind !== 'object') return undefined;
    const members = draw.tree.members.map(({ key, value }) => ({ key, value: plainText(draw, value) }));
    if (members.some(({ key, value }) => value === 'null' || /[\n|]/u.test(value) || /[^\w]/u.test(key)))
      return undefined;
    return around(members.map(({ key, value }) => spell(key, value)).join('\n'));
  };
}

const keyAndValue = (key: string, value: string): string => `${key}: ${value}`;

/** The names of the fields and the rows of values; undefined if a value is null and nothing is given instead. */
function rowsOf(draw: Draw, instead?: string): readonly (readonly string[])[] | undefined {
  if (draw.tree.kind !== 'list') return undefined;
  const rows = draw.tree.items.map((item) => (item.kind === 'object' ? item.members : []));
  const texts = rows.map((row) => row.map(({ value }) => plainText(draw, value)));
  if (
    rows.length === 0 ||
    texts.flat().some((cell) => /[|\n]|^\s*$/u.test(cell) || (cell === 'null' && instead === undefined))
  )
    return undefined;
  return [
    rows[0]?.map(({ key }) => key) ?? [],
    ...texts.map((row) => row.map((cell) => (cell === 'null' ? (instead ?? cell) : cell))),
  ];
}

function table(heading: (key: string) => string, instead?: string): Way {
  return (draw) => {
    const [head = [], ...rows] = rowsOf(draw, instead) ?? [];
    if (rows.length === 0) return undefined;
    return [head.map(heading), head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
  };
}

function records(spell: (lines: readonly string[], at: number) => string | undefined): Way {
  return (draw) => {
    const [head = [], ...rows] = rowsOf(draw) ?? [];
    const texts = rows.map((row, at) =>
      spell(
        row.map((cell, column) => `${head[column] ?? ''}: ${cell}`),
        at,
      ),
    );
    return texts.length === 0 || texts.includes(undefined) ? undefined : texts.join('\n\n');
  };
}

/** Values that are not written as JSON at all. */
const NOTATIONS = group('other notations', {
  'key and value lines': {
    fits: isFlatObject,
    ways: [
      pairs(keyAndValue),
      pairs((key, value) => `- **${key}**: ${value}`),
      pairs((key, value) => `${inWords(key)}: ${value}`),
      pairs((key, value) => `${key} = ${value}`),
      pairs(keyAndValue, (text) => `Here is the information you asked for:\n\n${text}`),
      pairs(keyAndValue, (text) => fenced(text, 'yaml')),
      pairs(
        (key, value) => `| ${key} | ${value} |`,
        (text) => `| Field | Value |\n|---|---|\n${text}`,
      ),
    ],
  },
  'map as lines': {
    fits: ({ shape }) => {
      const inner = core(shape);
      return inner.kind === 'map' && ['int', 'float', 'text'].includes(core(inner.value).kind);
    },
    ways: [pairs(keyAndValue), pairs((key, value) => `- ${key}: ${value}`)],
  },
  XML: {
    fits: isFlatObject,
    ways: [
      pairs(
        (key, value) => `  <${key}>${value}</${key}>`,
        (text) => `<result>\n${text}\n</result>`,
      ),
      pairs(
        (key, value) => `<parameter name="${key}">${value}</parameter>`,
        (text) => `<function_calls>\n<invoke name="extract">\n${text}\n</invoke>\n</function_calls>`,
      ),
    ],
  },
  'Markdown table': { fits: isTable, ways: [table((key) => key), table(inWords), table((key) => key, '-')] },
  'bullets of each object': {
    fits: isTable,
    ways: [
      records((rows, at) => `**${at + 1}.**\n${rows.map(bullet).join('\n')}`),
      records(([first = '', ...rows], at) => {
        const name = first.slice(first.indexOf(':') + 2);
        const isName = /^[\p{L}][\p{L} ]*$/u.test(name) && rows.length > 0;
        return isName ? `${at + 1}. **${name}**\n${rows.map((line) => `   - ${line}`).join('\n')}` : undefined;
      }),
    ],
  },
  YAML: [
    (draw) => blockYaml(draw.tree, ''),
    (draw) => `---\n${blockYaml(draw.tree, '')}\n...`,
    (draw) => fenced(blockYaml(draw.tree, ''), 'yaml'),
    (draw) =>
      draw.tree.kind === 'object'
        ? draw.tree.members.map(({ key, value }) => `${key}: ${draw.part(value)}`).join('\n')
        : undefined,
  ],
});

/** YAML in block style; strings are in quotes where YAML needs them. */
function blockYaml(tree: ReplyTree, margin: string): string {
  if (tree.kind === 'text') return isPlainYaml(tree) ? tree.text : JSON.stringify(tree.text);
  if (tree.kind === 'scalar') return String(tree.value);
  const parts = tree.kind === 'list' ? tree.items : tree.members;
  if (parts.length === 0) return tree.kind === 'list' ? '[]' : '{}';
  const written = parts.map((part) =>
    'key' in part
      ? `${margin}${part.key}:${below(part.value, margin)}`
      : `${margin}- ${blockYaml(part, `${margin}  `).trimStart()}`,
  );
  return written.join('\n');
}

function below(tree: ReplyTree, margin: string): string {
  const text = blockYaml(tree, `${margin}  `);
  return sizeOf(tree) === 0 ? ` ${text}` : `\n${text}`;
}

function isPlainYaml({ text, shared }: TextTree): boolean {
  return !shared && /^\p{L}[\p{L}\d .,;_@'-]*$/u.test(text) && !/^(?:true|false|null|yes|no|none)$/iu.test(text);
}

function sizeOf(tree: ReplyTree): number {
  return tree.kind === 'list' ? tree.items.length : tree.kind === 'object' ? tree.members.length : 0;
}

// --- unions -----------------------------------------------------------------------------------------------------------

/** Unions with a scalar or any JSON, to which most replies fit in some way. */
const isMixed: Kind['fits'] = (subject) =>
  core(subject.shape).kind === 'union' &&
  !isComposite(subject) &&
  !hasPart(subject.shape, (part) => part.kind === 'text' && part.attributes !== undefined);
const hasMixedField: Kind['fits'] = (subject) =>
  isComposite(subject) &&
  hasPart(
    subject.shape,
    (part) =>
      part.kind === 'union' &&
      has('text')({ name: '', shape: part }) &&
      part.members.some(({ kind }) => kind === 'int' || kind === 'float'),
  );
const isChecked: Kind['fits'] = (subject) =>
  isComposite(subject) && hasPart(subject.shape, (part) => part.kind === 'class' && part.name === 'PhoneContact');
const isUnionOfClasses: Kind['fits'] = ({ shape }) => {
  const inner = core(shape);
  return inner.kind === 'union' && inner.members.every(({ kind }) => kind === 'class');
};
/** A null field would give the class away. */
const WITHOUT_NULLS = { indent: 2, omit: ({ tree }: Spot): boolean => tree.kind === 'scalar' && tree.value === null };
const bareKey = (key: string): string => (/^[A-Za-z_]\w*$/u.test(key) ? key : JSON.stringify(key));

function sharedNumber(spell: (value: number) => string | undefined): Way {
  return partAs(({ tree }) =>
    tree.kind === 'scalar' && typeof tree.value === 'number' && tree.shared ? spell(tree.value) : undefined,
  );
}

/** The member of the union whose check holds is the right one. */
function checked(write: (draw: Draw) => string): Way {
  return (draw) => {
    const check = JSON.stringify(draw.value).includes('@') ? 'email' : 'phone';
    return { reply: write(draw), truth: { kind: 'value', value: draw.value, check } };
  };
}

/** More than one member of a union can take the value; its form or a constraint decides. */
const UNIONS = group('unions and checks', {
  'JSON for any type': {
    fits: isMixed,
    ways: [
      // A string alone can be meant with its quotes.
      (draw) => (draw.tree.kind === 'text' ? undefined : draw.json()),
      (draw) => (draw.tree.kind === 'text' ? undefined : fenced(draw.json(), 'json')),
      (draw) => (draw.tree.kind === 'object' ? draw.write({ indent: 2, key: bareKey, comma: () => ',' }) : undefined),
      (draw) => (typeof draw.value === 'number' && draw.value > 0 ? `+${draw.value}` : undefined),
    ],
  },
  'a fence after a sentence': {
    fits: (subject) => isMixed(subject) && !takesText(subject),
    ways: ['Here is the value:\n\n<<fence>>'],
  },
  'a plain sentence': {
    fits: (subject) => isMixed(subject) && takesText(subject),
    ways: [({ tree }) => (tree.kind === 'text' && tree.role === 'free' ? tree.text : undefined)],
  },
  'numbers in a union with a string': {
    fits: hasMixedField,
    ways: [
      sharedNumber(String),
      sharedNumber((value) => (value > 0 ? `+${value}` : undefined)),
      sharedNumber((value) => (value > 0 && value < 1 ? String(value).slice(1) : undefined)),
      partAs(({ tree }) =>
        tree.kind === 'text' && tree.shared && /^[a-z]+$/u.test(tree.text) ? tree.text : undefined,
      ),
    ],
  },
  'a check decides': {
    fits: isChecked,
    ways: [
      (draw) => draw.write(WITHOUT_NULLS),
      (draw) => `The contact is:\n\n${fenced(draw.write(WITHOUT_NULLS), 'json')}\n\nIs there anything else?`,
      (draw) => draw.write({ ...WITHOUT_NULLS, key: bareKey }),
    ],
  },
  'a check decides between strings': {
    fits: ({ name }) => name === 'Lead',
    ways: [
      checked((draw) => draw.json()),
      checked((draw) => `The lead:\n${draw.write({ indent: 2, key: bareKey })}\nI hope this helps.`),
    ],
  },
  'the discriminator comes last, or is a wrapper': {
    fits: isUnionOfClasses,
    ways: [
      ({ tree, part }) =>
        tree.kind === 'object'
          ? part({ ...tree, members: [...tree.members.slice(1), ...tree.members.slice(0, 1)] }, { indent: 2 })
          : undefined,
      (draw) => {
        const label = draw.tree.kind === 'object' ? draw.tree.members[0]?.value : undefined;
        return `{"${label?.kind === 'text' ? capital(label.text) : 'Value'}": ${draw.json()}}`;
      },
    ],
  },
  'a literal number in quotes': {
    fits: both(isComposite, has('literal')),
    ways: [
      partAs(({ tree, member }) =>
        member?.key === 'rating' && tree.kind === 'scalar' && typeof tree.value === 'number'
          ? `"${tree.value}"`
          : undefined,
      ),
    ],
  },
});

export const FORMS: readonly Kind[] = [...FRAMES, ...LISTS, ...NOTATIONS, ...UNIONS];
