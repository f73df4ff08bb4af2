#!/bin/sh
# @valibot/to-json-schema 1.8.0 refuses the one flag that patterns of JSON Schema have. Observed on 2026-11-30.
#
# Expected: JSON Schema says that a pattern should be read as a regular expression of ECMA-262 with the flag "u". So the expression
# /^\p{Lu}+$/u becomes the pattern "^\p{Lu}+$", and an expression without the flag is the one that could need a second look.
# Observed: the flag "u" is an error, "RegExp flags are not supported by JSON Schema.", like "i". The same text without the flag, which means
# something else in JavaScript, is written without a word.
#
# Exits with 1 if the package no longer behaves so.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{ "type": "module", "private": true }' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts valibot@1.5.0 @valibot/to-json-schema@1.8.0
cat > run.js <<'JS'
import { readFileSync } from 'node:fs';
import { toJsonSchema } from '@valibot/to-json-schema';
import { pipe, regex, string } from 'valibot';

for (const name of ['valibot', '@valibot/to-json-schema']) {
  console.log(`${name} ${JSON.parse(readFileSync(`node_modules/${name}/package.json`, 'utf8')).version}`);
}
function written(expression) {
  try {
    return toJsonSchema(pipe(string(), regex(expression))).pattern;
  } catch (error) {
    return `error: ${error.message}`;
  }
}
const [unicode, plain] = [written(/^\p{Lu}+$/u), written(/^\p{Lu}+$/)];
console.log(String(/^\p{Lu}+$/u), '->', unicode);
console.log(String(/^\p{Lu}+$/), '->', plain, '; matches "A":', /^\p{Lu}+$/.test('A'), '; matches "p{Lu}":', /^\p{Lu}+$/.test('p{Lu}'));
const same = unicode.startsWith('error: ') && plain === String.raw`^\p{Lu}+$`;
if (!same) console.log('changed');
process.exit(same ? 0 : 1);
JS
node run.js
