import { core, group, isListOf, isObject, type Draw, type Kind } from '../kind.ts';
import type { Shape } from '../shape.ts';

/** A class whose fields are strings, labels, numbers and bools. */
function isFlat(shape: Shape): boolean {
  return (
    shape.kind === 'class' &&
    shape.fields().every((field) => ['text', 'int', 'float', 'bool', 'enum'].includes(core(field.shape).kind))
  );
}

const isFlatObject: Kind['fits'] = (subject) => isObject(subject) && isFlat(core(subject.shape));
const isTable: Kind['fits'] = isListOf(isFlat);

/** Values that are not written as JSON at all. A human reads them, but whether a null or a number is meant is a guess. */
export const NOTATIONS = group('other notations', {
  'key and value lines': { fits: isFlatObject, damage: (draw) => pairs(draw, (key, value) => `${key}: ${value}`) },
  'bold keys and values': {
    fits: isFlatObject,
    clear: false,
    damage: (draw) => pairs(draw, (key, value) => `- **${key}**: ${value}`),
  },
  'key and value lines in a fence': {
    fits: isFlatObject,
    damage: (draw) => {
      const text = pairs(draw, (key, value) => `${key}: ${value}`);
      return text === undefined ? undefined : `\`\`\`yaml\n${text}\n\`\`\``;
    },
  },
  'key = value lines': {
    fits: isFlatObject,
    clear: false,
    damage: (draw) => pairs(draw, (key, value) => `${key} = ${value}`),
  },
  'markdown table': { fits: isTable, clear: false, damage: (draw) => tableOf(draw) },
  XML: {
    fits: isFlatObject,
    clear: false,
    damage: (draw) => {
      const text = pairs(draw, (key, value) => `  <${key}>${value}</${key}>`);
      return text === undefined ? undefined : `<result>\n${text}\n</result>`;
    },
  },
  YAML: { clear: false, damage: (draw) => yaml(draw) },
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

function tableOf(draw: Draw): string | undefined {
  if (draw.tree.kind !== 'list') return undefined;
  const rows = draw.tree.items.map((item) => (item.kind === 'object' ? item.members : []));
  const head = rows[0]?.map(({ key }) => key) ?? [];
  const cells = rows.map((row) => row.map(({ value }) => (value.kind === 'text' ? value.text : draw.part(value))));
  if (cells.flat().some((cell) => cell === 'null' || /[|\n]/u.test(cell))) return undefined;
  return [head, head.map(() => '---'), ...cells].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

/** YAML in block style, with JSON for everything below the first level. */
function yaml(draw: Draw): string | undefined {
  const { tree } = draw;
  if (tree.kind === 'object') return tree.members.map(({ key, value }) => `${key}: ${draw.part(value)}`).join('\n');
  return tree.kind === 'list' ? tree.items.map((item) => `- ${draw.part(item)}`).join('\n') : undefined;
}
