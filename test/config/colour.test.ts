import { expect, test } from 'vitest';
import { wantsColour } from '../../src/config/colour.ts';

test('colour is for terminals that can show it and users who want it', () => {
  expect(wantsColour(true, {})).toBe(true);
  expect(wantsColour(true, { NO_COLOR: '' })).toBe(true);
  expect(wantsColour(false, {})).toBe(false);
  expect(wantsColour(true, { NO_COLOR: '1' })).toBe(false);
  expect(wantsColour(true, { TERM: 'dumb' })).toBe(false);
});
