import { both, group, has, isComposite, isList, type Draw, type Kind } from '../kind.ts';

/** Comments and ellipses inside the value. */
export const COMMENTS = group('comments and ellipses', {
  'comment with slashes at a line end': lineEnd([
    ' // from the first paragraph',
    ' // check again',
    ' // see https://example.com/a',
  ]),
  'comment with slashes, brackets and quotes': lineEnd([
    ' // {"not": "this"}',
    ' // e.g. [1, 2]',
    ' // the so-called "best" one\'s',
    ' // }, ]',
  ]),
  'comment with a hash at a line end': lineEnd([' # from the first paragraph', ' # 2 of 3', ' # see {below}']),
  'comment with a hash, brackets and quotes': lineEnd([' # {"not": "this"}', " # it's [unsure]", ' # "quoted", maybe']),
  'block comment at a line end': lineEnd([' /* from the text */', ' /* { "x": [ */']),
  'comment on its own line': ownLine([
    '// the main part',
    '# the main part',
    '/* the main part */',
    '// "key": "value",',
  ]),
  'block comment over several lines': ownLine(['/*\n   * The main part:\n   * { "key": [1, 2] }\n   */']),
  'comment before the value': (draw) => `// the result of the extraction\n${draw.write()}`,
  'comment after the value': (draw) => `${draw.write()} // end of the result {done}`,
  'comment after the first bracket': (draw) => draw.write().replace(/^[{[]/u, (bracket) => `${bracket} // start`),
  'comment inside a line': (draw) => {
    const spot = draw.spot(({ index }) => index > 0);
    return spot === undefined
      ? undefined
      : draw.write({ before: ({ index }) => (index === spot.index ? '/* here */ ' : '') });
  },
  'comment between key and value': {
    fits: both(isComposite, has('class')),
    damage: (draw) => {
      const spot = draw.spot(({ member }) => member !== undefined);
      return spot === undefined
        ? undefined
        : draw.write({ indent: 2, colon: ({ index }) => (index === spot.index ? ': /* from the text */ ' : ': ') });
    },
  },
  'ellipsis after the last member of an object': {
    fits: both(isComposite, has('class')),
    damage: (draw) => {
      const spot = draw.spot(({ tree }) => tree.kind === 'object' && tree.role === 'class' && tree.members.length > 0);
      if (spot === undefined) return undefined;
      return draw.write({
        indent: 2,
        close: ({ index, tree }) => (index === spot.index ? '...}' : tree.kind === 'list' ? ']' : '}'),
      });
    },
  },
  'ellipsis at the end of a list': {
    fits: isList,
    clear: false,
    damage: (draw) => draw.write().replace(/\n\]$/u, ',\n  ...\n]'),
  },
  'comment that more follows': {
    fits: isList,
    clear: false,
    damage: (draw) => draw.write().replace(/\n\]$/u, ',\n  // ... more items\n]'),
  },
});

function lineEnd(comments: readonly string[]): { damage: Kind['damage'] } {
  return {
    damage: (draw) => {
      const spot = draw.spot(({ index, tree }) => index > 0 && (tree.kind === 'text' || tree.kind === 'scalar'));
      if (spot === undefined) return undefined;
      const comment = draw.random.pick(comments);
      return draw.write({ indent: 2, after: ({ index }) => (index === spot.index ? comment : '') });
    },
  };
}

function ownLine(comments: readonly string[]): { damage: (draw: Draw) => string | undefined } {
  return {
    damage: (draw) => {
      const spot = draw.spot(({ index }) => index > 0);
      if (spot === undefined) return undefined;
      const comment = draw.random.pick(comments);
      return draw.write({ indent: 2, before: ({ index }) => (index === spot.index ? `${comment}\n  ` : '') });
    },
  };
}
