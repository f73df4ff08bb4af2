import { core, group, isListOf, isObject, valueTruth, type Damaged, type Draw, type Kind } from '../kind.ts';
import type { ReplyTree, TextTree } from '../reply-tree.ts';
import type { Shape } from '../shape.ts';
import { fenced } from './around.ts';

/** A class whose fields are strings, labels, numbers and bools. */
function isFlat(shape: Shape): boolean {
  return (
    shape.kind === 'class' &&
    shape.fields().every((field) => ['text', 'int', 'float', 'bool', 'enum'].includes(core(field.shape).kind))
  );
}

const isFlatObject: Kind['fits'] = (subject) => isObject(subject) && isFlat(core(subject.shape));
const isFlatMap: Kind['fits'] = (subject) => {
  const shape = core(subject.shape);
  return shape.kind === 'map' && ['int', 'float', 'text'].includes(core(shape.value).kind);
};
const isTable: Kind['fits'] = isListOf(isFlat);

/** Values that are not written as JSON at all. Values with nulls are left out, because their spelling would be a guess. */
export const NOTATIONS = group('other notations', {
  'key and value lines': { fits: isFlatObject, damage: (draw) => pairs(draw, (key, value) => `${key}: ${value}`) },
  'bold keys and values': {
    fits: isFlatObject,
    damage: (draw) => pairs(draw, (key, value) => `- **${key}**: ${value}`),
  },
  'key and value lines with keys in words': {
    fits: isFlatObject,
    damage: (draw) => pairs(draw, (key, value) => `${capital(key.replaceAll('_', ' '))}: ${value}`),
  },
  'key and value lines after a sentence': {
    fits: isFlatObject,
    damage: (draw) => {
      const text = pairs(draw, (key, value) => `${key}: ${value}`);
      return text === undefined ? undefined : `Here is the information you asked for:\n\n${text}`;
    },
  },
  'table of fields and values': {
    fits: isFlatObject,
    damage: (draw) => {
      const rows = pairs(draw, (key, value) => (value.includes('|') ? '' : `| ${key} | ${value} |`));
      return rows === undefined || /^$/mu.test(rows) ? undefined : `| Field | Value |\n|---|---|\n${rows}`;
    },
  },
  'map as lines': { fits: isFlatMap, damage: (draw) => pairs(draw, (key, value) => `${key}: ${value}`) },
  'map as bullets': { fits: isFlatMap, damage: (draw) => pairs(draw, (key, value) => `- ${key}: ${value}`) },
  'key and value lines in a fence': {
    fits: isFlatObject,
    damage: (draw) => {
      const text = pairs(draw, (key, value) => `${key}: ${value}`);
      return text === undefined ? undefined : `\`\`\`yaml\n${text}\n\`\`\``;
    },
  },
  'invocation with parameters': {
    fits: isFlatObject,
    damage: (draw) => {
      const text = pairs(draw, (key, value) => `<parameter name="${key}">${value}</parameter>`);
      return text === undefined
        ? undefined
        : `<function_calls>\n<invoke name="extract">\n${text}\n</invoke>\n</function_calls>`;
    },
  },
  'key = value lines': {
    fits: isFlatObject,
    damage: (draw) => pairs(draw, (key, value) => `${key} = ${value}`),
  },
  'markdown table': { fits: isTable, damage: (draw) => tableOf(draw) },
  XML: {
    fits: isFlatObject,
    damage: (draw) => {
      const text = pairs(draw, (key, value) => `  <${key}>${value}</${key}>`);
      return text === undefined ? undefined : `<result>\n${text}\n</result>`;
    },
  },
  'table with headings in words': {
    fits: isTable,
    damage: (draw) => tableOf(draw, (key) => capital(key.replaceAll('_', ' '))),
  },
  'bullets below bold numbers': {
    fits: isTable,
    damage: (draw) => records(draw, (lines, at) => `**${at + 1}.**\n${lines.map((line) => `- ${line}`).join('\n')}`),
  },
  'bullets below the first field in bold': {
    fits: isTable,
    damage: (draw) =>
      records(draw, ([first = '', ...lines], at) => {
        const name = first.slice(first.indexOf(':') + 2);
        const isName = /^[\p{L}][\p{L} ]*$/u.test(name) && lines.length > 0;
        return isName ? `${at + 1}. **${name}**\n${lines.map((line) => `   - ${line}`).join('\n')}` : undefined;
      }),
  },
  'table with dashes for null': {
    fits: isTable,
    damage: (draw) => tableOf(draw, (key) => key, '-'),
  },
  'JSON strings after keys': {
    fits: isFlatObject,
    damage: (draw) => {
      const quoted = draw.withText((random) => `echo "${random.pick(['a b', 'the total'])}"`);
      return (
        quoted &&
        damagedTo(
          quoted,
          pairs(quoted, (key, value) => `- \`${key}\`: ${written(value)}`),
        )
      );
    },
  },
  'HTML after keys': {
    fits: isFlatObject,
    damage: (draw) => {
      const page = draw.withText((random) => `<div class="lead"><b>${random.pick(['Hi', 'Sale'])}</b></div>`);
      return (
        page &&
        damagedTo(
          page,
          pairs(page, (key, value) => `${key} = ${value}`),
        )
      );
    },
  },
  'YAML as a document': { damage: (draw) => `---\n${blockYaml(draw.tree, '')}\n...` },
  'YAML with JSON in it': { damage: (draw) => shallowYaml(draw) },
  'YAML in a fence': { damage: (draw) => fenced(blockYaml(draw.tree, ''), 'yaml') },
  YAML: { damage: (draw) => blockYaml(draw.tree, '') },
});

function pairs(draw: Draw, spell: (key: string, value: string) => string): string | undefined {
  if (draw.tree.kind !== 'object') return undefined;
  const members = draw.tree.members.map(({ key, value }) => ({
    key,
    value: value.kind === 'text' ? value.text : draw.part(value),
  }));
  if (members.some(({ key, value }) => value === 'null' || /\n/u.test(value) || /[^\w]/u.test(key))) return undefined;
  return members.map(({ key, value }) => spell(key, value)).join('\n');
}

/** Writes each object of a list from the lines of its members; undefined if one of them cannot be written. */
function records(draw: Draw, spell: (lines: readonly string[], at: number) => string | undefined): string | undefined {
  const [head = [], ...rows] = cellsOf(draw) ?? [];
  if (rows.length === 0 || rows.flat().some((cell) => /\n|^\s*$/u.test(cell))) return undefined;
  const texts = rows.map((row, index) =>
    spell(
      row.map((cell, at) => `${head[at] ?? ''}: ${cell}`),
      index,
    ),
  );
  return texts.includes(undefined) ? undefined : texts.join('\n\n');
}

/** Returns a reply from which another value than the drawn one is to be read. */
function damagedTo(other: Draw, reply: string | undefined): Damaged {
  return reply === undefined ? undefined : { reply, truth: valueTruth(other.value) };
}

/** Writes numbers and bools without quotes. */
function written(value: string): string {
  return /^(?:-?\d[\d.]*|true|false)$/u.test(value) ? value : JSON.stringify(value);
}

function tableOf(draw: Draw, heading: (key: string) => string = (key) => key, instead?: string): string | undefined {
  const [head = [], ...rows] = cellsOf(draw, instead) ?? [];
  if (rows.length === 0 || rows.flat().some((cell) => /[|\n]/u.test(cell))) return undefined;
  return [head.map(heading), head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

/** Returns the names of the fields and the rows of values; undefined if there is no list, or a null and nothing instead. */
function cellsOf(draw: Draw, instead = 'null'): readonly (readonly string[])[] | undefined {
  if (draw.tree.kind !== 'list') return undefined;
  const rows = draw.tree.items.map((item) => (item.kind === 'object' ? item.members : []));
  const cells = rows.map((row) => row.map(({ value }) => (value.kind === 'text' ? value.text : draw.part(value))));
  if (instead === 'null' && cells.flat().includes('null')) return undefined;
  const filled = cells.map((row) => row.map((cell) => (cell === 'null' ? instead : cell)));
  return [rows[0]?.map(({ key }) => key) ?? [], ...filled];
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** YAML with JSON for everything below the first level. */
function shallowYaml(draw: Draw): string | undefined {
  const { tree } = draw;
  if (tree.kind === 'object') return tree.members.map(({ key, value }) => `${key}: ${draw.part(value)}`).join('\n');
  return tree.kind === 'list' ? tree.items.map((item) => `- ${draw.part(item)}`).join('\n') : undefined;
}

/** YAML in block style; strings are in quotes where YAML needs them. */
function blockYaml(tree: ReplyTree, margin: string): string {
  if (tree.kind === 'text') return isPlainYaml(tree) ? tree.text : JSON.stringify(tree.text);
  if (tree.kind === 'scalar') return String(tree.value);
  const parts = tree.kind === 'list' ? tree.items : tree.members;
  if (parts.length === 0) return tree.kind === 'list' ? '[]' : '{}';
  const lines = parts.map((part) =>
    'key' in part
      ? `${margin}${part.key}:${below(part.value, margin)}`
      : `${margin}- ${blockYaml(part, `${margin}  `).trimStart()}`,
  );
  return lines.join('\n');
}

function below(tree: ReplyTree, margin: string): string {
  const size = tree.kind === 'list' ? tree.items.length : tree.kind === 'object' ? tree.members.length : 0;
  const text = blockYaml(tree, `${margin}  `);
  return size === 0 ? ` ${text}` : `\n${text}`;
}

function isPlainYaml({ text, shared }: TextTree): boolean {
  return !shared && /^\p{L}[\p{L}\d .,;_@'-]*$/u.test(text) && !/^(?:true|false|null|yes|no|none)$/iu.test(text);
}
