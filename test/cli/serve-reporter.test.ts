import { expect, test } from 'vitest';
import { ServeReporter } from '../../src/cli/serve-reporter.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { recordingLogger } from '../support/recording-logger.ts';

function ignore(): void {}

/** The lines of the log at the start of a server, without the start line itself. */
function startLines(variables: Readonly<Record<string, string>>): readonly string[] {
  const loaded = loadConfig({ from: 'svc_src', dotenv: false }, { variables });
  if (!loaded.ok) throw new Error(loaded.failure.message);
  const { logger, lines } = recordingLogger();
  new ServeReporter({ config: loaded.value.config, logger, print: ignore, printError: ignore }).started({
    port: 1,
    transport: 'node',
    program: { hash: '', functions: 1, fromBaml: false, write: () => '', validators: () => Promise.resolve('') },
    onLoopback: true,
    warnings: [],
  });
  return lines;
}

test.each([
  [{}, 'with its arguments and its answer, up to 2 KB of each; --log-content none leaves them out'],
  [{ SVC_LOG_CONTENT: 'full' }, 'with its arguments and its answer in full; --log-content none leaves them out'],
  [{ SVC_LOG_LEVEL: 'debug' }, 'with its arguments and its answer in full; --log-content none leaves them out'],
])('at the start, svc serve logs what it logs of each call, and how to turn it off (%j)', (variables, content) => {
  expect(startLines(variables)).toEqual([`logging a line for each call, ${content} {}`]);
});

test('if no line contains arguments or answers, svc serve starts without a line about them', () => {
  expect(startLines({ SVC_LOG_CONTENT: 'none' })).toEqual([]);
});
