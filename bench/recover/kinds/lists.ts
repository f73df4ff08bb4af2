import { both, group, isList, isListOf, isListOfObjects, isLabelShape, type Draw, type Kind } from '../kind.ts';
import { fenced } from './around.ts';

const isListOfTexts = isListOf((item) => item.kind === 'text');
const isListOfWords: Kind['fits'] = isListOf(
  (item) => item.kind === 'text' || item.kind === 'int' || item.kind === 'float' || isLabelShape(item),
);
const isListOfLists = isListOf((item) => item.kind === 'list');

/** Lists without their brackets. */
export const LISTS = group('lists', {
  bullets: { fits: isListOfTexts, damage: (draw) => lines(draw, (text) => `- ${text}`) },
  'bullets with stars': { fits: isListOfTexts, damage: (draw) => lines(draw, (text) => `* ${text}`) },
  'bullets with dots': { fits: isListOfTexts, damage: (draw) => lines(draw, (text) => `• ${text}`) },
  'bullets after a sentence': {
    fits: isListOfTexts,
    damage: (draw) => `Here are the values I found:\n\n${lines(draw, (text) => `- ${text}`)}`,
  },
  'bullets between sentences': {
    fits: isListOfTexts,
    damage: (draw) =>
      `Here are the values I found:\n\n${lines(draw, (text) => `- ${text}`)}\n\nLet me know if you need more!`,
  },
  'bullets of labels and numbers': {
    fits: isListOf((item) => item.kind === 'int' || item.kind === 'float' || isLabelShape(item)),
    damage: (draw) => lines(draw, (text) => `- ${text}`),
  },
  'numbered lines': { fits: isListOfTexts, damage: (draw) => lines(draw, (text, at) => `${at + 1}. ${text}`) },
  'numbered lines after a sentence': {
    fits: isListOfTexts,
    damage: (draw) => `The list:\n\n${lines(draw, (text, at) => `${at + 1}. ${text}`)}`,
  },
  'numbered lines with parentheses': {
    fits: isListOfTexts,
    damage: (draw) => lines(draw, (text, at) => `${at + 1}) ${text}`),
  },
  'bullets in a fence': { fits: isListOfTexts, damage: (draw) => fenced(lines(draw, (text) => `- ${text}`)) },
  'strings as objects with one member': {
    fits: isListOfTexts,
    damage: (draw) =>
      `[${items(draw, {})
        .map((item) => `{"item": ${item}}`)
        .join(', ')}]`,
  },
  'numbers as strings': {
    fits: isListOf((item) => item.kind === 'int' || item.kind === 'float'),
    damage: (draw) =>
      `[${items(draw, {})
        .map((item) => `"${item}"`)
        .join(', ')}]`,
  },
  'one word per line': { fits: isListOfWords, clear: false, damage: (draw) => lines(draw, (text) => text) },
  'one object after another': { fits: isListOfObjects, damage: (draw) => items(draw, { indent: 2 }).join('\n\n') },
  'one object per line': { fits: isListOfObjects, damage: (draw) => items(draw, {}).join('\n') },
  'one object per line, in a fence': {
    fits: isListOfObjects,
    damage: (draw) => fenced(items(draw, {}).join('\n'), 'jsonl'),
  },
  'objects with commas but no brackets': {
    fits: isListOfObjects,
    damage: (draw) => items(draw, { indent: 2 }).join(',\n'),
  },
  'a fence for each object': {
    fits: isListOfObjects,
    damage: (draw) =>
      items(draw, { indent: 2 })
        .map((item) => fenced(item, 'json'))
        .join('\n\n'),
  },
  'a heading before each object': {
    fits: isListOfObjects,
    damage: (draw) =>
      items(draw, { indent: 2 })
        .map((item, at) => `### ${at + 1}\n\n${fenced(item, 'json')}`)
        .join('\n\n'),
  },
  'numbered objects': {
    fits: isListOfObjects,
    damage: (draw) =>
      items(draw, {})
        .map((item, at) => `${at + 1}. ${item}`)
        .join('\n'),
  },
  'bulleted objects': {
    fits: isListOfObjects,
    damage: (draw) =>
      items(draw, {})
        .map((item) => `- ${item}`)
        .join('\n'),
  },
  'one row per line': { fits: isListOfLists, damage: (draw) => items(draw, {}).join('\n') },
  'rows with commas but no brackets': { fits: isListOfLists, damage: (draw) => items(draw, {}).join(',\n') },
  'an item twice in brackets': { fits: both(isList, isListOfWords), damage: (draw) => `[${draw.json()}]` },
});

function items(draw: Draw, style: { readonly indent?: number }): readonly string[] {
  return draw.tree.kind === 'list' ? draw.tree.items.map((item) => draw.part(item, style)) : [];
}

function plainItems(draw: Draw): readonly string[] {
  if (draw.tree.kind !== 'list') return [];
  return draw.tree.items.map((item) => (item.kind === 'text' ? item.text : draw.part(item)));
}

function lines(draw: Draw, spell: (text: string, at: number) => string): string {
  return plainItems(draw).map(spell).join('\n');
}
