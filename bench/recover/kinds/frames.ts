import {
  both,
  core,
  group,
  hasPart,
  isComposite,
  isList,
  isMap,
  isNumber,
  isObject,
  isBool,
  isLabel,
  isAnything,
  type Draw,
} from '../kind.ts';
import { intro, outro } from '../phrases.ts';
import { fenced } from './around.ts';

const isBracketed = (draw: Draw): boolean => draw.tree.kind === 'object';
const isScalarAnswer: typeof isNumber = (subject) => isNumber(subject) || isBool(subject) || isLabel(subject);

/** The value is in another form as a whole, or wrapped into another value. */
export const FRAMES = group('frames', {
  'block quote': (draw) => `${intro(draw.random)}\n\n${quoted(draw.write())}`,
  'block quote with a fence': (draw) => `${intro(draw.random)}\n\n${quoted(fenced(draw.write(), 'json'))}`,
  'double braces': { fits: (subject) => isObject(subject) || isMap(subject), damage: (draw) => doubled(draw) },
  'double braces at all levels': {
    fits: isComposite,
    damage: (draw) => {
      const text = draw.write({
        indent: 2,
        open: ({ tree }) => (tree.kind === 'object' ? '{{' : '['),
        close: ({ tree }) => (tree.kind === 'object' ? '}}' : ']'),
      });
      return text.includes('{{') ? text : undefined;
    },
  },
  'without the first brace': {
    fits: (subject) => isObject(subject) && !isList(subject),
    damage: (draw) => (isBracketed(draw) ? draw.json().slice(1) : undefined),
  },
  'without the first brace, in prose': {
    fits: isObject,
    damage: (draw) => (isBracketed(draw) ? `${draw.write().slice(1)}\n\n${outro(draw.random)}` : undefined),
  },
  'without the first bracket': { fits: isList, damage: (draw) => draw.json().slice(1) },
  'without the first brace and key quote': {
    fits: isObject,
    damage: (draw) => (isBracketed(draw) ? draw.write({ indent: 2 }).replace(/^\{\s*"/u, '') : undefined),
  },
  'without the outer braces': {
    fits: isObject,
    damage: (draw) => {
      if (!isBracketed(draw)) return undefined;
      const lines = draw.write({ indent: 2 }).split('\n').slice(1, -1);
      return lines.map((line) => line.slice(2)).join('\n');
    },
  },
  'full-width colons and commas': (draw) =>
    draw.write({ indent: 2, colon: () => '：', comma: ({ isLast }) => (isLast ? '' : '，') }),
  'full-width braces': (draw) =>
    draw.write({
      indent: 2,
      colon: () => '：',
      comma: ({ isLast }) => (isLast ? '' : '，'),
      open: ({ tree }) => (tree.kind === 'list' ? '［' : '｛'),
      close: ({ tree }) => (tree.kind === 'list' ? '］' : '｝'),
    }),
  'escaped once, without quotes': (draw) => JSON.stringify(draw.write({})).slice(1, -1),
  'escaped once, without quotes, with line breaks': (draw) => JSON.stringify(draw.write({ indent: 2 })).slice(1, -1),
  'as a JSON string': (draw) => JSON.stringify(draw.json()),
  'as a JSON string in a fence': (draw) => fenced(JSON.stringify(draw.json()), 'json'),
  'escaped twice': (draw) => JSON.stringify(JSON.stringify(draw.write({}))),
  'objects as JSON strings': {
    fits: isComposite,
    damage: (draw) => {
      const spot = draw.spot(({ tree, index }) => index > 0 && tree.kind === 'object' && tree.members.length > 0);
      if (spot === undefined) return undefined;
      return draw.replaceSpot(spot, JSON.stringify(draw.part(spot.tree)));
    },
  },
  'lists as JSON strings': {
    fits: (subject) => isObject(subject),
    damage: (draw) => {
      const spot = draw.spot(({ tree }) => tree.kind === 'list' && tree.items.length > 0);
      return spot === undefined ? undefined : draw.replaceSpot(spot, JSON.stringify(draw.part(spot.tree)));
    },
  },
  'schema echo with values': {
    fits: isObject,
    damage: (draw) => (isBracketed(draw) ? `{"type": "object", "properties": ${draw.json()}}` : undefined),
  },
  'schema echo with required': {
    fits: isObject,
    damage: (draw) => {
      if (draw.tree.kind !== 'object') return undefined;
      const required = JSON.stringify(draw.tree.members.map(({ key }) => key));
      return fenced(
        `{\n"title": "Result",\n"type": "object",\n"properties": ${draw.write()},\n"required": ${required}\n}`,
        'json',
      );
    },
  },
  'schema echo of each field': {
    fits: isObject,
    damage: (draw) => {
      if (draw.tree.kind !== 'object') return undefined;
      const fields = draw.tree.members.map(
        ({ key, value }) => `${JSON.stringify(key)}: {"type": "any", "value": ${draw.part(value)}}`,
      );
      return `{${fields.join(', ')}}`;
    },
  },
  'wrapper with a status': {
    fits: notJson(isComposite),
    damage: (draw) => wrapped(draw, ['result', 'data', 'output'], '"status": "ok", '),
  },
  'wrapper with one key': {
    fits: notJson(isComposite),
    damage: (draw) => wrapped(draw, ['result', 'data', 'response', 'answer', 'output', 'json']),
  },
  'two wrappers': {
    fits: notJson(isComposite),
    damage: (draw) => `{"response": {"code": 200, "data": ${draw.json()}}}`,
  },
  'wrapper with the name of the type': {
    fits: isObject,
    damage: (draw) => {
      const shape = core(draw.shape);
      const name = shape.kind === 'class' ? shape.name : 'Result';
      return `{"${draw.random.pick([name, name.toLowerCase()])}": ${draw.json()}}`;
    },
  },
  'wrapper around a list': {
    fits: notJson(isList),
    damage: (draw) => wrapped(draw, ['items', 'results', 'list', 'data', 'values']),
  },
  'wrapper around a list with a count': {
    fits: notJson(isList),
    damage: (draw) =>
      draw.tree.kind === 'list' ? `{"count": ${draw.tree.items.length}, "items": ${draw.json()}}` : undefined,
  },
  'wrapper around a scalar': {
    fits: isScalarAnswer,
    damage: (draw) => wrapped(draw, ['answer', 'result', 'value', 'output']),
  },
  'wrapper around a scalar with reasoning': {
    fits: isScalarAnswer,
    damage: (draw) => `{"reasoning": "I read the text twice and compared both parts.", "answer": ${draw.json()}}`,
  },
  'wrapper around an optional': {
    fits: both(isAnything, ({ shape }) => shape.kind === 'optional'),
    damage: (draw) => (draw.value === null ? undefined : wrapped(draw, ['result', 'answer', 'value'])),
  },
  'list of one around an object': {
    fits: isObject,
    damage: (draw) => (isBracketed(draw) ? `[${draw.json()}]` : undefined),
  },
  'list of one around a scalar': { fits: isScalarAnswer, damage: (draw) => `[${draw.write()}]` },
  'tool call': {
    fits: notJson(isComposite),
    damage: (draw) =>
      `{"name": "${draw.random.pick(['submit_answer', 'extract', 'final_answer'])}", "arguments": ${draw.json()}}`,
  },
  'tool call with arguments as a string': {
    fits: notJson(isComposite),
    damage: (draw) => `{"name": "extract", "arguments": ${JSON.stringify(draw.write({}))}}`,
  },
  'tool call tags': {
    fits: notJson(isComposite),
    damage: (draw) => `<tool_call>\n{"name": "extract", "parameters": ${draw.write({})}}\n</tool_call>`,
  },
  'tool call as OpenAI writes it': {
    fits: notJson(isComposite),
    damage: (draw) =>
      `{"type": "function", "function": {"name": "extract", "arguments": ${JSON.stringify(draw.write({}))}}}`,
  },
  'tool call as Mistral writes it': {
    fits: notJson(isComposite),
    damage: (draw) => `[TOOL_CALLS] [{"name": "extract", "arguments": ${draw.write({})}}]`,
  },
  'function tag': (draw) => `<function=extract>${draw.write({})}</function>`,
  'message of a chat': {
    fits: notJson(isComposite),
    damage: (draw) => `{"role": "assistant", "content": ${JSON.stringify(draw.write({}))}}`,
  },
  'a cell around each value': {
    fits: isObject,
    damage: (draw) => cells(draw, (value) => `{"value": ${value}}`),
  },
  'a cell with a confidence around each value': {
    fits: isObject,
    damage: (draw) => cells(draw, (value) => `{"value": ${value}, "confidence": 0.${draw.random.int(5, 9)}}`),
  },
  'list of one around an inner object': {
    fits: isComposite,
    damage: (draw) => {
      const spot = draw.spot(
        ({ tree, parent }) => parent === 'object' && tree.kind === 'object' && tree.role === 'class',
      );
      return spot === undefined ? undefined : draw.replaceSpot(spot, `[${draw.part(spot.tree)}]`);
    },
  },
  'one element instead of a list of one': {
    fits: isComposite,
    damage: (draw) => {
      const spot = draw.spot(
        ({ tree, parent }) =>
          parent === 'object' && tree.kind === 'list' && tree.items.length === 1 && tree.items[0]?.kind !== 'list',
      );
      const [only] = spot?.tree.kind === 'list' ? spot.tree.items : [];
      return spot === undefined || only === undefined ? undefined : draw.replaceSpot(spot, draw.part(only));
    },
  },
  'tags around': (draw) => {
    const tag = draw.random.pick(['answer', 'json', 'output', 'result', 'response']);
    return `<${tag}>\n${draw.json()}\n</${tag}>`;
  },
  'tags around, on one line': (draw) => `<answer>${draw.write({})}</answer>`,
  'pre and code tags': (draw) => `<pre><code class="language-json">${draw.write()}</code></pre>`,
  CDATA: (draw) => `<result><![CDATA[${draw.write({})}]]></result>`,
  'special token at the end': (draw) =>
    draw.json() +
    draw.random.pick([
      '<|im_end|>',
      '</s>',
      '<|eot_id|>',
      '<|endoftext|>',
      '<end_of_turn>',
      '<｜end▁of▁sentence｜>',
      '[/INST]',
    ]),
  'special tokens around': (draw) =>
    draw.random.pick([
      '<|im_start|>assistant\n',
      '<s>[INST] ',
      '<|start_header_id|>assistant<|end_header_id|>\n\n',
      '<|assistant|>\n',
    ]) +
    draw.json() +
    draw.random.pick(['<|im_end|>\n', ' </s>', '<|eot_id|>', '']),
});

/** Values that are objects stay as they are. */
function cells(draw: Draw, cell: (value: string) => string): string | undefined {
  const { tree } = draw;
  if (tree.kind !== 'object') return undefined;
  const isCell = tree.members.some(({ key }) => key === 'value' || key === 'confidence');
  const isFlat = tree.members.every(({ value }) => value.kind === 'text' || value.kind === 'scalar');
  if (isCell || !isFlat) return undefined;
  return `{\n${tree.members.map(({ key, value }) => `  ${JSON.stringify(key)}: ${cell(draw.part(value))}`).join(',\n')}\n}`;
}

function wrapped(draw: Draw, names: readonly string[], start = ''): string | undefined {
  const name = draw.random.pick(names);
  const { tree } = draw;
  if (tree.kind === 'object' && tree.members.some(({ key }) => key === name || key === 'status')) return undefined;
  const inner = draw.json();
  return draw.random.chance(0.5)
    ? `{${start}"${name}": ${inner}}`
    : fenced(`{\n  ${start}"${name}": ${inner}\n}`, 'json');
}

function doubled(draw: Draw): string | undefined {
  return isBracketed(draw) ? `{${draw.write()}}` : undefined;
}

function quoted(text: string): string {
  return text
    .split('\n')
    .map((line) => `> ${line}`)
    .join('\n');
}

/** A type that takes any JSON takes its wrapper too. */
function notJson(filter: typeof isComposite): typeof isComposite {
  return (subject) =>
    filter(subject) && !hasPart(subject.shape, (part) => part.kind === 'alias' && part.name === 'AnyJson');
}
