import {
  both,
  core,
  group,
  isComposite,
  isList,
  isListOf,
  isListOfObjects,
  isLabelShape,
  type Draw,
  type Kind,
} from '../kind.ts';
import type { ReplyTree } from '../reply-tree.ts';
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
  'bold bullets': { fits: isListOfTexts, damage: (draw) => lines(draw, (text) => `- **${text}**`) },
  'quoted bullets': { fits: isListOfTexts, damage: (draw) => lines(draw, (text) => `- "${text}"`) },
  'bullets in a fence': { fits: isListOfTexts, damage: (draw) => fenced(lines(draw, (text) => `- ${text}`)) },
  'comma-separated words': {
    fits: isListOfWords,
    damage: (draw) => (hasCommas(draw) ? undefined : plainItems(draw).join(', ')),
  },
  'comma-separated strings': {
    fits: isListOfTexts,
    damage: (draw) =>
      plainItems(draw)
        .map((text) => JSON.stringify(text))
        .join(', '),
  },
  'strings as objects with one member': {
    fits: isListOfTexts,
    damage: (draw) =>
      `[${items(draw, {})
        .map((item) => `{"item": ${item}}`)
        .join(', ')}]`,
  },
  'labels as the keys of bools': {
    fits: isListOf(isLabelShape),
    damage: (draw) => {
      const chosen = items(draw, {});
      const isSet =
        chosen.length > 0 && new Set(chosen).size === chosen.length && chosen.every((item) => item.startsWith('"'));
      return isSet ? `{${chosen.map((item) => `${item}: true`).join(', ')}}` : undefined;
    },
  },
  'names of a field in one string': {
    fits: isComposite,
    damage: (draw) => {
      const spot = draw.spot(({ member, tree }) => member?.role === 'field' && namesIn(tree).length > 2);
      return spot === undefined ? undefined : draw.replaceSpot(spot, JSON.stringify(namesIn(spot.tree).join(', ')));
    },
  },
  'numbers as strings': {
    fits: isListOf((item) => item.kind === 'int' || item.kind === 'float'),
    damage: (draw) =>
      `[${items(draw, {})
        .map((item) => `"${item}"`)
        .join(', ')}]`,
  },
  'part of the list, then the whole list': {
    fits: isList,
    damage: (draw) => {
      const all = items(draw, {});
      return `[${all.slice(0, -1).join(', ')}]\n\nI missed one. The complete list:\n\n[${all.join(', ')}]`;
    },
  },
  'numbers in a sentence': {
    fits: isListOf((item) => item.kind === 'int' || item.kind === 'float'),
    damage: (draw) => `The values are ${enumerated(plainItems(draw))}.`,
  },
  'labels in a sentence': {
    fits: isListOf(isLabelShape),
    damage: (draw) =>
      new Set(plainItems(draw)).size < plainItems(draw).length
        ? undefined
        : `The text is about ${enumerated(plainItems(draw))}.`,
  },
  'names after a sentence that announces a list': {
    fits: isListOfTexts,
    damage: (draw) => {
      const names = namesIn(draw.tree);
      const [before, after] = draw.random.pick([
        ['The list contains: ', '.'],
        ['I found the following: ', '.'],
        ['Here are the names: ', ''],
      ]);
      const text = draw.random.pick([enumerated(names), enumerated(names).replace(' and ', ', and ')]);
      return names.length < 3 || names.some((name) => name.includes(' and ')) ? undefined : before + text + after;
    },
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
  'a list for each object': {
    fits: isListOfObjects,
    clear: false,
    damage: (draw) =>
      items(draw, {})
        .map((item) => `[${item}]`)
        .join('\n'),
  },
  'two lists that belong together': {
    fits: isListOfObjects,
    clear: false,
    damage: (draw) => {
      const all = items(draw, {});
      return all.length < 2 ? undefined : `[${all[0]}]\n[${all.slice(1).join(', ')}]`;
    },
  },
  'one row per line': { fits: isListOfLists, damage: (draw) => items(draw, {}).join('\n') },
  'rows with commas but no brackets': { fits: isListOfLists, damage: (draw) => items(draw, {}).join(',\n') },
  'an item twice in brackets': { fits: both(isList, isListOfWords), damage: (draw) => `[${draw.json()}]` },
  'keys with numbers': {
    fits: isList,
    clear: false,
    damage: (draw) =>
      `{${items(draw, {})
        .map((item, at) => `"${at + 1}": ${item}`)
        .join(', ')}}`,
  },
});

function items(draw: Draw, style: { readonly indent?: number }): readonly string[] {
  return draw.tree.kind === 'list' ? draw.tree.items.map((item) => draw.part(item, style)) : [];
}

function plainItems(draw: Draw): readonly string[] {
  if (draw.tree.kind !== 'list') return [];
  return draw.tree.items.map((item) => (item.kind === 'text' ? item.text : draw.part(item)));
}

function enumerated(texts: readonly string[]): string {
  return texts.length < 2 ? texts.join('') : `${texts.slice(0, -1).join(', ')} and ${texts.at(-1) ?? ''}`;
}

function hasCommas(draw: Draw): boolean {
  return core(draw.shape).kind !== 'list' || plainItems(draw).some((text) => /[,;]/u.test(text));
}

function lines(draw: Draw, spell: (text: string, at: number) => string): string {
  return plainItems(draw).map(spell).join('\n');
}

/** The strings of a list that consists of short names; empty for any other part. */
function namesIn(tree: ReplyTree): readonly string[] {
  if (tree.kind !== 'list') return [];
  const texts = tree.items.flatMap((item) => (item.kind === 'text' ? item.text : []));
  const areNames = texts.length === tree.items.length && texts.every((text) => /^[a-z]+(?: [a-z]+)?$/u.test(text));
  return areNames ? texts : [];
}
