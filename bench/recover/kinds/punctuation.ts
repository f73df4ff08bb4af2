import { both, group, has, isComposite, isList, isListOfObjects, isObject, type Draw } from '../kind.ts';
import type { Spot } from '../write-tree.ts';

const isInner = ({ isLast, index }: Spot): boolean => !isLast && index > 0;

/** Commas, colons and brackets that are missing, doubled or mismatched. */
export const PUNCTUATION = group('commas, colons and brackets', {
  'a comma missing at a line end': (draw) => oneComma(draw, '', { indent: 2 }),
  'all commas missing at line ends': (draw) => noDifference(draw, draw.write({ indent: 2, comma: () => '' })),
  'a comma missing on one line': (draw) => oneComma(draw, '', {}),
  'a comma missing between objects': {
    fits: isListOfObjects,
    damage: (draw) => {
      const spot = draw.spot((given) => isInner(given) && given.depth === 1 && given.tree.kind === 'object');
      return spot === undefined ? undefined : commaAt(draw, spot, '', { indent: 2 });
    },
  },
  'comma doubled': (draw) => oneComma(draw, ',,', {}),
  'comma before the first member': (draw) => {
    const spot = draw.spot(({ index, parent }) => index === 1 && parent !== 'none');
    return spot === undefined ? undefined : draw.write({ indent: 2, before: ({ index }) => (index === 1 ? ', ' : '') });
  },
  'commas at the start of lines': (draw) =>
    noDifference(draw, draw.write({ indent: 2, comma: ({ isLast }) => (isLast ? '' : '\n  ,') })),
  'comma after the last member': (draw) => draw.write({ indent: 2, comma: () => ',' }),
  'comma after the whole value': (draw) => `${draw.json()},`,
  'semicolons for commas': (draw) =>
    noDifference(draw, draw.write({ indent: 2, comma: ({ isLast }) => (isLast ? '' : ';') })),
  'semicolon after the whole value': (draw) => `${draw.json()};`,
  'a colon missing': (draw) => oneColon(draw, ' '),
  'equals signs for colons': (draw) => allColons(draw, ' = '),
  'arrows for colons': (draw) => allColons(draw, ' => '),
  'colon doubled': (draw) => oneColon(draw, ':: '),
  'colon with equals sign': (draw) => oneColon(draw, ' := '),
  'last brackets missing': (draw) => {
    const text = draw.write(draw.random.pick([{}, { indent: 2 }]));
    const end = /[\s}\]]+$/u.exec(text)?.index ?? text.length;
    const closing = text.slice(end).replaceAll(/\s/gu, '');
    return text.slice(0, end) + closing.slice(0, draw.random.int(0, closing.length - 1));
  },
  'last bracket missing, in a fence with prose': (draw) =>
    `Here is the JSON:\n\n\`\`\`json\n${withoutEnd(draw)}\n\`\`\`\n\nI hope this helps.`,
  'a list that a key closes': {
    fits: both(isComposite, has('list'), has('class')),
    damage: (draw) => {
      const spot = draw.spot(
        ({ tree, parent, isLast }) =>
          tree.kind === 'list' && parent === 'object' && !isLast && tree.items.every((item) => item.kind !== 'list'),
      );
      if (spot === undefined) return undefined;
      return draw.write({
        indent: 2,
        close: (given) => (given.index === spot.index ? '' : given.tree.kind === 'list' ? ']' : '}'),
      });
    },
  },
  'last bracket doubled': (draw) => {
    const text = draw.write();
    return text + text.slice(-1);
  },
  'first bracket doubled': (draw) => {
    const text = draw.write();
    return draw.tree.kind === 'list' ? undefined : `${text.slice(0, 1)}\n${text}`;
  },
  'mismatched last bracket': (draw) => {
    const text = draw.write();
    return text.slice(0, -1) + (text.endsWith('}') ? ']' : '}');
  },
  'mismatched inner bracket': (draw) => {
    const spot = draw.spot(
      ({ tree, index }) => index > 0 && (tree.kind === 'list' || tree.kind === 'object') && spotSize(tree) > 0,
    );
    if (spot === undefined) return undefined;
    return draw.write({
      indent: 2,
      close: (given) => ((given.tree.kind === 'list') === (given.index === spot.index) ? '}' : ']'),
    });
  },
  'parentheses for braces': {
    fits: isObject,
    clear: false,
    damage: (draw) => `(${draw.write().slice(1, -1)})`,
  },
  'parentheses around': (draw) => `(${draw.json()})`,
  'closing brackets in the wrong order': (draw) => {
    const text = draw.write({});
    const end = /[}\]]+$/u.exec(text);
    if (end === null || new Set(end[0]).size < 2) return undefined;
    return text.slice(0, end.index) + [...end[0]].toReversed().join('');
  },
  'empty members between commas': { fits: isList, damage: (draw) => oneComma(draw, ', ,', {}) },
});

/** The value without its last bracket. */
function withoutEnd(draw: Draw): string {
  return draw.write().replace(/\s*[}\]]$/u, '');
}

function spotSize(tree: Spot['tree']): number {
  if (tree.kind === 'list') return tree.items.length;
  return tree.kind === 'object' ? tree.members.length : 0;
}

function noDifference(draw: Draw, text: string): string | undefined {
  return draw.spot(isInner) === undefined ? undefined : text;
}

function oneComma(draw: Draw, comma: string, layout: { readonly indent?: number }): string | undefined {
  const spot = draw.spot(isInner);
  return spot === undefined ? undefined : commaAt(draw, spot, comma, layout);
}

function commaAt(draw: Draw, spot: Spot, comma: string, layout: { readonly indent?: number }): string {
  return draw.write({ ...layout, comma: (given) => (given.index === spot.index ? comma : given.isLast ? '' : ',') });
}

function oneColon(draw: Draw, colon: string): string | undefined {
  const spot = draw.spot(({ member }) => member !== undefined);
  return spot === undefined
    ? undefined
    : draw.write({ indent: 2, colon: ({ index }) => (index === spot.index ? colon : ': ') });
}

function allColons(draw: Draw, colon: string): string | undefined {
  const spot = draw.spot(({ member }) => member !== undefined);
  return spot === undefined ? undefined : draw.write({ indent: 2, colon: () => colon });
}
