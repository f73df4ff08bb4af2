import { expect, it } from 'vitest';
import { metricsFormat } from '../../src/server/http/handlers/static-routes.ts';
import { metricsText } from '../support/exported-metrics.ts';

/** The `accept` header of Prometheus 2.42. */
const PROMETHEUS =
  'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1';

it.each([
  [undefined, 'prometheus'],
  ['*/*', 'prometheus'],
  ['text/html, */*;q=0.8', 'prometheus'],
  ['application/openmetrics-text', 'openmetrics'],
  [PROMETHEUS, 'openmetrics'],
  ['text/plain, application/openmetrics-text;q=0.5', 'prometheus'],
  ['application/openmetrics-text;q=0', 'prometheus'],
  ['application/openmetrics-text;q=high', 'prometheus'],
])('for accept: %s, the format is %s', (accept, format) => {
  expect(metricsFormat(accept)).toBe(format);
});

it('in OpenMetrics, the family of a counter has no suffix, its samples have one, and the text has an end', async () => {
  const text = await metricsText('openmetrics');
  expect(text).toContain(
    '# TYPE svc_requests counter\nsvc_requests_total{function="Greet",route="call",status="200"} 1\n',
  );
  expect(text).toMatch(/\n# EOF\n$/u);
  expect(text).not.toContain('\n\n');
  expect(stableSamples(text)).toEqual(stableSamples(await metricsText()));
});

/** The samples that do not depend on the moment of the scrape. */
function stableSamples(text: string): readonly string[] {
  const ofMoment = /^svc_(?:primary_memory_bytes|event_loop_busy_seconds_total|memory_bytes) /u;
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#') && !ofMoment.test(line));
}
