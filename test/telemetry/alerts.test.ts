import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ALERTS, ALERTS_FILE } from '../deploy/observability-files.ts';
import { ALERT_CASES, type AlertCase } from './alert-cases.ts';
import { promtool } from './prometheus-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-alerts-'));

afterAll(() => rmSync(folder, { recursive: true }));

/** A test of promtool: with these samples, the alert fires once with these labels, or not at all. */
function ruleTest(alert: string, samples: AlertCase['fires'], labels?: AlertCase['labels']): object {
  const rule = ALERTS.find((each) => each.alert === alert);
  const annotations = Object.entries(rule?.annotations ?? {}).map(([name, text]) => {
    const filled = text.replaceAll(/\{\{ \$labels\.(\w+) \}\}/gu, (_, label: string) => labels?.[label] ?? '');
    return [name, filled] as const;
  });
  const fired = { exp_labels: { ...labels, ...rule?.labels }, exp_annotations: Object.fromEntries(annotations) };
  return {
    interval: '1m',
    input_series: Object.entries(samples).map(([series, values]) => ({ series, values })),
    alert_rule_test: [{ eval_time: '30m', alertname: alert, exp_alerts: labels === undefined ? [] : [fired] }],
  };
}

function runRuleTests(name: string, tests: readonly object[]): ReturnType<typeof promtool> {
  const file = join(folder, name);
  // JSON is YAML.
  writeFileSync(file, JSON.stringify({ rule_files: [resolve(ALERTS_FILE)], evaluation_interval: '1m', tests }));
  return promtool(['test', 'rules', file]);
}

test('promtool finds no fault in the rules', () => {
  expect(promtool(['check', 'rules', '--lint=all', '--lint-fatal', ALERTS_FILE])).toMatchObject({ code: 0 });
});

test('promtool finds no fault in the configuration of Prometheus', () => {
  const text = readFileSync('deploy/observability/prometheus.yml', 'utf8');
  const file = join(folder, 'prometheus.yml');
  writeFileSync(file, text.replace('/etc/prometheus/alerts.yaml', resolve(ALERTS_FILE)));
  expect(promtool(['check', 'config', file])).toMatchObject({ code: 0 });
});

test('every alert has a case', () => {
  expect(ALERT_CASES.map(({ alert }) => alert)).toEqual(ALERTS.map(({ alert }) => alert));
});

test.each(ALERT_CASES)('$alert fires, and only when it should', ({ alert, fires, labels, silent }) => {
  const tests = [ruleTest(alert, fires, labels), ruleTest(alert, silent)];
  const { code, output } = runRuleTests(`${alert}.yaml`, tests);
  expect(code, output).toBe(0);
});

test('the cases can fail: an alert that must not fire, and one that must', () => {
  const [first] = ALERT_CASES;
  if (first === undefined) throw new Error('no cases');
  expect(runRuleTests('fires.yaml', [ruleTest(first.alert, first.fires)]).code).not.toBe(0);
  expect(runRuleTests('silent.yaml', [ruleTest(first.alert, first.silent, first.labels)]).code).not.toBe(0);
});
