import { expect, test } from 'vitest';
import { exportedMetrics } from '../support/exported-metrics.ts';
import { describedTable } from './generated-section.ts';

test('docs/http.md lists every metric with its labels', async () => {
  const exported = await exportedMetrics();
  expect(exported.size).toBeGreaterThan(30);
  const rows = [...exported].map(([name, { labels }]) => [`\`${name}\``, [...labels].toSorted().join(', ')]);
  const table = describedTable('docs/http.md', 'metrics', ['metric', 'labels', 'meaning'], rows);
  expect(table.actual, 'run the tests with UPDATE_DOCS=1').toBe(table.expected);
});
