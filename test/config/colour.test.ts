import { expect, test } from 'vitest';
import { wantsColour } from '../../src/config/colour.ts';

test('colour is for terminals that can show it and users who want it', () => {
  expect(wantsColour(true, {})).toBe(true);
  expect(wantsColour(true, { NO_COLOR: '' })).toBe(true);
  expect(wantsColour(false, {})).toBe(false);
  expect(wantsColour(true, { NO_COLOR: '1' })).toBe(false);
  expect(wantsColour(true, { TERM: 'dumb' })).toBe(false);
});

test('FORCE_COLOR decides, whatever the output is', () => {
  expect(wantsColour(false, { FORCE_COLOR: '1', NO_COLOR: '1' })).toBe(true);
  expect(wantsColour(true, { FORCE_COLOR: '0' })).toBe(false);
  expect(wantsColour(true, { FORCE_COLOR: '' })).toBe(true);
});
