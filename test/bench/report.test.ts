import { expect, test } from 'vitest';
import { resultText } from '../../bench/report.ts';

test('a result is JSON, with a line for each row, and without what was not measured', () => {
  const data = { machine: { cores: 2 }, rows: [{ side: 'svc' }, { side: 'baml' }], none: [], scaling: undefined };
  const text = resultText(data);
  expect(JSON.parse(text)).toEqual({ machine: { cores: 2 }, rows: [{ side: 'svc' }, { side: 'baml' }], none: [] });
  expect(text.split('\n')).toHaveLength(8);
});
