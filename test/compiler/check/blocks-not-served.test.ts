import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assertProperty } from '../../support/assert-property.ts';
import { checkText } from './sample-files.ts';

const HEADS = ['test T', 'test T()', 'test<llm> T', 'test', 'test "t"', 'generator g', 'generator g()', 'generator'];
const head = fc.constantFrom(...HEADS);
const space = fc.constantFrom(' ', '\n  ', '\n\n  ');

/** Text without brackets. A string or raw string has its end. */
const PIECES =
  'functions args input output version x : , ; = => -> | ? # @ @@ @alias @@check env.X 5 0.1.2 1e5 "a" "bc" #"raw"# \' é // /// class enum dynamic type_builder let if \\ && {{this}} 10:30'
    .split(' ')
    .concat('"two\nlines"');
const BRACKETS: ReadonlyArray<readonly [string, string]> = [
  ['{', '}'],
  ['[', ']'],
  ['(', ')'],
  ['type_builder {', '}'],
];
const soup = fc.letrec<{ part: string; parts: string }>((tie) => ({
  part: fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...PIECES) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.constantFrom(...BRACKETS), tie('parts'))
        .map(([[open, close], inner]) => `${open} ${inner}\n ${close}`),
    },
  ),
  parts: fc
    .array(fc.tuple(tie('part'), space), { maxLength: 12 })
    .map((parts) => parts.map(([part, after]) => part + after).join('')),
})).parts;

const KEPT = '\nclass Kept {\n  a string\n}\n';

function outcomeOf(text: string): { readonly errors: readonly string[]; readonly kept: boolean } {
  const { diagnostics, definitions } = checkText(text + KEPT, {
    version: '0.1.0',
    versionCheck: false,
    beta: false,
    apiKey: false,
  });
  const errors = diagnostics.filter(({ severity }) => severity === 'error').map(({ code }) => code);
  return {
    errors,
    kept: definitions?.classes.some(({ name, fields }) => name === 'Kept' && fields.length === 1) === true,
  };
}

/** The codes that state that the end of a block is uncertain. */
const UNCERTAIN = /^parse\/(?:un(?:closed|matched)-bracket|unterminated|missing-b)/;

test('in a block that svc does not run, only an uncertain end is an error', () => {
  assertProperty(
    fc.property(head, soup, (start, body) => {
      const { errors } = outcomeOf(`${start} {\n  ${body}\n}`);
      expect(errors.some((code) => UNCERTAIN.test(code)) ? [] : errors).toEqual([]);
    }),
    { numRuns: 500 },
  );
});

test('a block that causes no error hides no definition after it', () => {
  const broken = fc.array(fc.constantFrom(...PIECES, '"', '#"', '{{', '{', '}', '[', ']', '(', ')', '\n'), {
    maxLength: 20,
  });
  assertProperty(
    fc.property(
      head,
      fc.oneof(
        soup,
        broken.map((parts) => parts.join(' ')),
      ),
      (start, body) => {
        const { errors, kept } = outcomeOf(`${start} {\n  ${body}\n}`);
        expect(kept || errors.length > 0).toBe(true);
      },
    ),
    { numRuns: 500 },
  );
});
