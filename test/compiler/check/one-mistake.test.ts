import { expect, test } from 'vitest';
import { checkFile, samples } from './sample-files.ts';

/** Each of these samples has one mistake that affects other parts, in a bracket, a quote, a head or a type. */
const ONE_MISTAKE = [
  'arrow-missing-greater',
  'attribute-missing-paren',
  'class-extends',
  'class-misspelt',
  'client-bracket-unclosed',
  'client-without-closing-quote',
  'extra-closing-brace',
  'fat-arrow',
  'jinja-comment-outside',
  'missing-brace-of-function',
  'missing-brace-of-options',
  'missing-brace-of-type-builder',
  'missing-closing-brace-of-class-next-class',
  'missing-open-brace-class',
  'missing-raw-end-hash',
  'missing-return-type',
  'option-without-closing-quote',
  'parameters-without-end',
  'prompt-triple',
  'prose-between-definitions',
  'template-endfor-wrong',
  'template-endif',
  'template-errors',
  'type-with-class-syntax',
  'unclosed-list-literal',
  'unclosed-map',
  'unclosed-type-parens',
];

test.each(ONE_MISTAKE)('%s has one diagnostic', (name) => {
  const sample = samples('invalid').find((each) => each.name === name);
  expect(sample && checkFile(sample.file).diagnostics.map(({ severity }) => severity)).toEqual(['error']);
});
