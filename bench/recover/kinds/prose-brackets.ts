import { group, has, both, isComposite, isObject, type Draw } from '../kind.ts';
import { fenced } from './around.ts';

/** Brackets, code and interfaces that are not the value. */
export const PROSE_BRACKETS = group('brackets, code and interfaces in prose', {
  'citations after': (draw) => {
    const { random } = draw;
    return `${either(draw)}\n\n${random.pick(['Sources: [1], [2]', 'References: [1] [3]', '[1] Annual report, [2] Press release', 'See [12] for details.'])}`;
  },
  'citations before': (draw) => `According to the report [1] and its appendix [2], the result is:\n\n${either(draw)}`,
  'footnote after': (draw) => `${either(draw)}\n\n[^1]: As stated in the second paragraph.`,
  'empty braces mentioned after': (draw) =>
    `${either(draw)}\n\nI used {} for missing objects and [] for missing lists.`,
  'empty braces mentioned before': (draw) =>
    `I return [] when a list is empty and {} when an object is.\n\n${either(draw)}`,
  'placeholder mentioned before': (draw) =>
    `I replaced {name} and {{date}} with the values from the text.\n\n${either(draw)}`,
  'placeholder mentioned after': (draw) => `${either(draw)}\n\nReplace {your_id} where needed.`,
  'bare answer after a fenced interface': (draw) => `${draw.random.pick(INTERFACES)}\n\n${draw.json()}`,
  'fenced answer after a fenced interface': (draw) =>
    `${draw.random.pick(INTERFACES)}\n\nThe value:\n\n${fenced(draw.json(), 'json')}`,
  'bare answer after fenced code': (draw) => `${draw.random.pick(CODE)}\n\nThe output of this code:\n\n${draw.json()}`,
  'fenced answer after fenced code': (draw) =>
    `${draw.random.pick(CODE)}\n\nThis gives:\n\n${fenced(draw.json(), 'json')}`,
  'fenced code after the answer': (draw) =>
    `${either(draw)}\n\nYou can load it like this:\n\n${draw.random.pick(CODE)}`,
  'JSON schema in a fence before': {
    fits: isObject,
    damage: (draw) => {
      if (draw.tree.kind !== 'object') return undefined;
      const properties = Object.fromEntries(draw.tree.members.map(({ key }) => [key, { type: 'string' }]));
      const schema = JSON.stringify({ type: 'object', properties, required: Object.keys(properties) }, undefined, 2);
      return `The schema is:\n\n${fenced(schema, 'json')}\n\nThe data:\n\n${fenced(draw.json(), 'json')}`;
    },
  },
  'type of the answer before': {
    fits: isObject,
    damage: (draw) => {
      if (draw.tree.kind !== 'object') return undefined;
      const lines = draw.tree.members.map(({ key }) => `  ${/^\w+$/u.test(key) ? key : JSON.stringify(key)}: string,`);
      return `Following the schema\n{\n${lines.join('\n')}\n}\nI get:\n${draw.write()}`;
    },
  },
  'key named in backticks': {
    fits: both(isComposite, has('class')),
    damage: (draw) => `The field \`{"items": []}\` does not apply here, so this is the result:\n\n${either(draw)}`,
  },
  'links before': (draw) =>
    `I looked at [the documentation](https://example.com/docs) and [this page](https://example.com/a[1]).\n\n${either(draw)}`,
  'check list before': (draw) =>
    `- [x] Read the text\n- [x] Extract the values\n- [ ] Ask for missing values\n\n${either(draw)}`,
  'check list after': (draw) => `${either(draw)}\n\n- [x] valid JSON\n- [x] all fields given`,
  'sets and ranges before': (draw) => `Let S = {1, 2, 3} and x in [0, 1]. Then the answer is:\n\n${either(draw)}`,
  'range mentioned after': (draw) => `${either(draw)}\n\nAll numbers are within the range [0, 100].`,
  'regular expression mentioned': (draw) => `I matched the text with [a-z]+\\d{2,4} and got:\n\n${either(draw)}`,
  'log line before': (draw) => `[INFO] extraction started\n[INFO] extraction finished {status: ok}\n${draw.json()}`,
  'quote of the input before': (draw) => `The text says "price: {see table}" and "[redacted]".\n\n${either(draw)}`,
});

/** The value, with or without a fence. */
function either(draw: Draw): string {
  return draw.random.chance(0.5) ? draw.json() : fenced(draw.json(), 'json');
}

const INTERFACES = [
  fenced('interface Result {\n  name: string;\n  values: number[];\n  note?: string;\n}', 'typescript'),
  fenced('class Result(BaseModel):\n    name: str\n    values: list[int] = []\n    extra: dict = {}', 'python'),
  fenced('type Result = {\n  id: number;\n  tags: string[];\n};', 'ts'),
];

const CODE = [
  fenced(
    'import json\n\ndata = json.loads(text)\nresult = {"name": data["n"], "items": [1, 2]}\nprint(result)',
    'python',
  ),
  fenced('const data = JSON.parse(text);\nconsole.log({ total: data.items.length, first: data.items[0] });', 'js'),
  fenced('curl -X POST https://example.com/api -d \'{"query": "x"}\'', 'bash'),
];
