import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from '../architecture/source-files.ts';
import { exportedMetrics } from '../support/exported-metrics.ts';

/** The labels of each metric in the table of docs/http.md. */
function documentedMetrics(): ReadonlyMap<string, readonly string[]> {
  const rows = readFileSync(join(ROOT, 'docs/http.md'), 'utf8').matchAll(/^\| (`svc_[^|]*)\|([^|]*)\|/gmu);
  return new Map(
    [...rows].flatMap(([, names = '', labels = '']) => {
      const list = labels
        .split(',')
        .map((label) => label.trim())
        .filter((label) => label !== '');
      return [...names.matchAll(/`(svc_\w+)`/gu)].map(([, name = '']) => [name, list.toSorted()] as const);
    }),
  );
}

test('docs/http.md lists every metric with its labels', async () => {
  const documented = documentedMetrics();
  const exported = await exportedMetrics();
  expect(exported.size).toBeGreaterThan(30);
  for (const [name, { labels }] of exported) {
    expect([name, documented.get(name)]).toEqual([name, [...labels].toSorted()]);
  }
});
