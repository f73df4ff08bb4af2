import { expect, test } from 'vitest';
import { ServeReporter } from '../../src/cli/serve-program.ts';
import type { PriceNote } from '../../src/cli/price-note.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { recordingLogger } from '../support/recording-logger.ts';

function ignore(): void {}

interface StartFacts {
  readonly fromBaml?: boolean;
  readonly warnings?: readonly string[];
  readonly priceNote?: PriceNote;
}

/** The lines of the log at the start of a server, without the start line itself. */
function startLines(
  variables: Readonly<Record<string, string>>,
  { fromBaml = false, warnings = [], priceNote }: StartFacts = {},
): readonly string[] {
  const loaded = loadConfig({ from: 'svc_src', dotenv: false }, { variables });
  if (!loaded.ok) throw new Error(loaded.failure.message);
  const { logger, lines } = recordingLogger();
  new ServeReporter({ config: loaded.value.config, logger, priceNote, print: ignore, printError: ignore }).started({
    port: 1,
    transport: 'node',
    program: {
      hash: '',
      functions: 1,
      fromBaml,
      write: () => '',
      compileAhead: () => Promise.resolve(),
      validators: () => Promise.resolve(''),
      types: () => Promise.resolve(undefined),
    },
    onLoopback: true,
    warnings,
  });
  return lines;
}

/** The fields of the line that lists the settings. */
function settings(variables: Readonly<Record<string, string>>): unknown {
  const [line = ''] = startLines({ SVC_WORKERS: '2', ...variables });
  return JSON.parse(line.slice(line.indexOf('{')));
}

test.each([
  [{}, 'arguments and answers, up to 2 KB of each; --log-content none leaves them out'],
  [{ SVC_LOG_CONTENT: 'full' }, 'arguments and answers in full; --log-content none leaves them out'],
  [{ SVC_LOG_LEVEL: 'debug' }, 'arguments and answers in full; --log-content none leaves them out'],
  [{ SVC_LOG_CONTENT: 'none' }, 'neither arguments nor answers'],
])('at the start, svc serve logs what it logs of each call, and how to turn it off (%j)', (variables, content) => {
  expect(startLines(variables)).toEqual([expect.stringContaining(`serving; request lines contain ${content} {`)]);
});

test('one line at the start lists the settings that matter to an operator', () => {
  const usual = { transport: 'node', workers: 2, authMode: 'none', clientRegistry: 'open', logContent: 'short' };
  expect(settings({})).toEqual(usual);
  const more = { SVC_PASSWORD: 'a-long-password', SVC_LOG_SAMPLE: '1%', SVC_SLOW: '10s', SVC_METRICS_PORT: '9464' };
  expect(settings(more)).toEqual({ ...usual, authMode: 'key', logSample: 0.01, slowMs: 10_000, metricsPort: 9464 });
});

test('a start with every warning takes seven lines, with the one that it prints', () => {
  const priceNote = { level: 'warn', text: 'no price matches' } as const;
  const lines = startLines({}, { fromBaml: true, warnings: ['a', 'b', 'c'], priceNote });
  expect(lines).toHaveLength(6);
  expect(lines).toContainEqual(expect.stringContaining('no price matches'));
});
