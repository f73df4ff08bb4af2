#!/bin/sh
# effect 3.22.4: its JSON Schemas lose bounds in validators that follow draft 7. Observed on 2026-11-30.
#
# Expected: a schema with `$schema` of draft 7 means in draft 7 what the effect schema means. Draft 7 ignores every keyword beside a
# `$ref`, so a bound on a shared type has to be in an `allOf`, or the type in place.
# Observed: `Schema.Int` with a minimum becomes `{"$ref": "#/$defs/Int", "minimum": 18}`. A validator that follows draft 7 accepts 3; AJV, which
# reads keywords beside `$ref` in each draft, refuses it, as effect does.
#
# Exits with 1 if one of them no longer behaves so.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{ "type": "module", "private": true }' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts effect@3.22.4 @hyperjump/json-schema@1.18.0 ajv@8.20.0
cat > run.js <<'JS'
import { readFileSync } from 'node:fs';
import { registerSchema, validate } from '@hyperjump/json-schema/draft-07';
import { Ajv } from 'ajv';
import { JSONSchema, Schema } from 'effect';

for (const name of ['effect', '@hyperjump/json-schema', 'ajv']) {
  console.log(`${name} ${JSON.parse(readFileSync(`node_modules/${name}/package.json`, 'utf8')).version}`);
}
const Adult = Schema.Struct({ age: Schema.Int.pipe(Schema.greaterThanOrEqualTo(18)) });
const schema = JSONSchema.make(Adult);
console.log(schema.$schema, JSON.stringify(schema.properties.age));

const CHILD = { age: 3 };
const id = 'https://example.com/adult';
registerSchema({ ...schema, $id: id }, id);
const outcomes = {
  effect: Schema.is(Adult)(CHILD),
  'draft 7 (hyperjump)': (await validate(id, CHILD)).valid,
  ajv: new Ajv({ strict: false }).validate(schema, CHILD),
};
console.log('accepts an age of 3:', outcomes);
const same = JSON.stringify(Object.values(outcomes)) === '[false,true,false]' && '$ref' in schema.properties.age;
if (!same) console.log('changed');
process.exit(same ? 0 : 1);
JS
node run.js
