import { expect, test } from 'vitest';
import { renderPrompt } from './sample-program.ts';

test.each([
  '{% for key, value in {"xy": 1} %}{{ key }}{{ value }}{% endfor %}',
  '{% for a, b in ["xy", "zw"] %}{{ a }}{{ b }}{% endfor %}',
  '{% set a, b = "xy" %}{{ a }}{{ b }}',
  '{% set a, (b, c) = [1, "xy"] %}{{ a }}{{ b }}{{ c }}',
  '{% macro xy() %}xy{{ _.role("user") }}{% endmacro %}{% set a, b = xy() %}{{ a }}{{ b }}',
])('a string is not unpacked: %s', (prompt) => {
  expect(renderPrompt(prompt)).toContain(
    'cannot unpack a string into 2 names (to loop over the keys and values of a map, write `in map|items`)',
  );
});

test.each([
  '{% for key, value in {"x": "y"}|items %}{{ key }}{{ value }}{% endfor %}',
  '{% set a, b = "xy"|list %}{{ a }}{{ b }}',
  '{% set a, b = {"x": 1, "y": 2} %}{{ a }}{{ b }}',
])('lists and the keys of maps are unpacked: %s', (prompt) => {
  expect(renderPrompt(prompt)).toEqual([{ role: 'system', parts: [{ kind: 'text', text: 'xy' }] }]);
});
