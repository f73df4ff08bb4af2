/** One row of the import table: a folder or a file, and its allowed imports besides itself. */
export interface Room {
  readonly path: string;
  readonly mayImport: readonly string[];
}

const LANGUAGE = ['src/base', 'src/diagnostics', 'src/schema'] as const;

/** The rooms on the path of a call. They never import each other; `runtime/call` joins them. */
const ROOMS_OF_A_CALL = [
  'src/runtime/arguments',
  'src/runtime/prompt',
  'src/runtime/reply',
  'src/runtime/model',
] as const;

/** The most specific row for a file counts. A folder in `mayImport` allows all files in it. */
export const IMPORT_TABLE: readonly Room[] = [
  { path: 'src/base', mayImport: [] },
  { path: 'src/diagnostics', mayImport: ['src/base'] },
  { path: 'src/schema', mayImport: ['src/base', 'src/diagnostics/span.ts'] },
  { path: 'src/config', mayImport: ['src/base', 'src/schema'] },
  { path: 'src/logging', mayImport: ['src/base', 'src/config'] },
  { path: 'src/compiler', mayImport: LANGUAGE },
  { path: 'src/compiler/compile-options.ts', mayImport: [] },
  { path: 'src/compiler/1-parse', mayImport: [...LANGUAGE, 'src/compiler/compile-options.ts'] },
  { path: 'src/compiler/2-check', mayImport: [...LANGUAGE, 'src/compiler/compile-options.ts', 'src/compiler/1-parse'] },
  { path: 'src/compiler/3-emit', mayImport: [...LANGUAGE, 'src/compiler/compile-options.ts', 'src/compiler/2-check'] },
  { path: 'src/runtime/arguments', mayImport: ['src/base', 'src/schema'] },
  { path: 'src/runtime/prompt', mayImport: ['src/base', 'src/schema'] },
  { path: 'src/runtime/reply', mayImport: ['src/base', 'src/schema'] },
  { path: 'src/runtime/model', mayImport: ['src/base', 'src/schema', 'src/logging'] },
  { path: 'src/runtime/call', mayImport: ['src/base', 'src/schema', 'src/logging', ...ROOMS_OF_A_CALL] },
  { path: 'src/policy', mayImport: ['src/base', 'src/config', 'src/logging', 'src/schema'] },
  { path: 'src/calls', mayImport: ['src/base', 'src/config', 'src/schema'] },
  { path: 'src/telemetry', mayImport: ['src/base', 'src/config', 'src/logging'] },
  {
    path: 'src/server',
    mayImport: [
      'src/base',
      'src/schema',
      'src/config',
      'src/logging',
      'src/policy',
      'src/runtime',
      'src/telemetry',
      'src/calls',
    ],
  },
  { path: 'src/dev', mayImport: [...LANGUAGE, 'src/config', 'src/logging', 'src/compiler', 'src/runtime/call'] },
  {
    path: 'src/cli',
    mayImport: [
      ...LANGUAGE,
      'src/config',
      'src/logging',
      'src/calls',
      'src/compiler',
      'src/dev',
      'src/server',
      'src/runtime/call/load-program.ts',
    ],
  },
  // Runs in the browser: it shares only types and pure functions with the rest.
  { path: 'src/playground', mayImport: ['src/base', 'src/schema'] },
  {
    path: 'src/index.ts',
    mayImport: ['src/base', 'src/compiler', 'src/runtime', 'src/schema', 'src/config/read-prices.ts'],
  },
  { path: 'workers', mayImport: ['src/calls', 'src/server', 'src/runtime', 'src/cli'] },
];

/** The one folder that imports an npm package; the rest of the program uses that folder's exports. */
export const PACKAGE_OWNERS: Readonly<Record<string, string>> = {
  '@aws-sdk/credential-provider-ini': 'src/runtime/model',
  '@codemirror/commands': 'src/playground',
  '@codemirror/lang-json': 'src/playground',
  '@codemirror/language': 'src/playground',
  '@codemirror/lint': 'src/playground',
  '@codemirror/state': 'src/playground',
  '@codemirror/view': 'src/playground',
  '@lezer/highlight': 'src/playground',
  '@modelcontextprotocol/sdk': 'src/server/doors/mcp',
  '@opentelemetry/api': 'src/telemetry',
  '@opentelemetry/core': 'src/telemetry',
  '@opentelemetry/exporter-metrics-otlp-proto': 'src/telemetry',
  '@opentelemetry/exporter-trace-otlp-proto': 'src/telemetry',
  '@opentelemetry/resources': 'src/telemetry',
  '@opentelemetry/sdk-metrics': 'src/telemetry',
  '@opentelemetry/sdk-trace': 'src/telemetry',
  'ajv-formats': 'src/compiler/3-emit',
  ajv: 'src/compiler/3-emit',
  'better-sqlite3': 'src/calls',
  chevrotain: 'src/compiler/1-parse',
  commander: 'src/cli',
  'csv-parse': 'src/dev',
  'csv-stringify': 'src/dev',
  dotenv: 'src/config',
  ioredis: 'src/policy',
  // Every plane keeps a few results.
  'lru-cache': 'src',
  openai: 'src/runtime/model',
  pg: 'src/calls',
  pino: 'src/logging',
  piscina: 'src/server',
  preact: 'src/playground',
  'prom-client': 'src/server',
  re2js: 'src/runtime/prompt',
  undici: 'src/runtime/model',
  'uWebSockets.js': 'src/server',
  'vscode-languageserver': 'src/dev/lsp',
  yaml: 'src/config',
};
