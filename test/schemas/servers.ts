import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { isJsonObject, stringAt } from '../../src/base/json.ts';

/** An MCP server that lists its tools without the internet and with credentials that no service knows. */
export interface ToolServer {
  readonly package: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Not the credential of anyone. */
const FAKE = 'fake0000000000000000000000000000';

export const SERVERS: readonly ToolServer[] = [
  { package: '@brave/brave-search-mcp-server', args: ['--transport', 'stdio'], env: { BRAVE_API_KEY: FAKE } },
  { package: '@circleci/mcp-server-circleci', env: { CIRCLECI_TOKEN: FAKE } },
  { package: '@elastic/mcp-server-elasticsearch', env: { ES_URL: 'http://127.0.0.1:9', ES_API_KEY: FAKE } },
  { package: '@hubspot/mcp-server', env: { PRIVATE_APP_ACCESS_TOKEN: FAKE } },
  { package: '@mapbox/mcp-server', env: { MAPBOX_ACCESS_TOKEN: 'pk.eyJ1IjoiZmFrZSJ9.fake' } },
  { package: '@modelcontextprotocol/server-brave-search', env: { BRAVE_API_KEY: FAKE } },
  { package: '@modelcontextprotocol/server-everything' },
  { package: '@modelcontextprotocol/server-filesystem', args: ['.'] },
  { package: '@modelcontextprotocol/server-github', env: { GITHUB_PERSONAL_ACCESS_TOKEN: FAKE } },
  { package: '@modelcontextprotocol/server-gitlab', env: { GITLAB_PERSONAL_ACCESS_TOKEN: FAKE } },
  { package: '@modelcontextprotocol/server-google-maps', env: { GOOGLE_MAPS_API_KEY: FAKE } },
  { package: '@modelcontextprotocol/server-memory' },
  { package: '@modelcontextprotocol/server-sequential-thinking' },
  { package: '@modelcontextprotocol/server-slack', env: { SLACK_BOT_TOKEN: FAKE, SLACK_TEAM_ID: FAKE } },
  { package: '@neondatabase/mcp-server-neon', args: ['start', FAKE] },
  { package: '@notionhq/notion-mcp-server', env: { NOTION_TOKEN: FAKE } },
  { package: '@playwright/mcp' },
  { package: '@sentry/mcp-server', args: [`--access-token=${FAKE}`] },
  { package: '@upstash/context7-mcp' },
  { package: 'chrome-devtools-mcp' },
  { package: 'exa-mcp-server', env: { EXA_API_KEY: FAKE } },
  { package: 'figma-developer-mcp', args: ['--stdio'], env: { FIGMA_API_KEY: FAKE } },
  { package: 'firecrawl-mcp', env: { FIRECRAWL_API_KEY: FAKE } },
  { package: 'mcp-server-kubernetes' },
  {
    package: 'mongodb-mcp-server',
    env: { MDB_MCP_CONNECTION_STRING: 'mongodb://127.0.0.1:9/x', MDB_MCP_TELEMETRY: 'disabled' },
  },
  { package: 'tavily-mcp', env: { TAVILY_API_KEY: FAKE } },
];

/** The slowest of these servers loads for 20 s on a busy machine. */
const TIMEOUT = { timeout: 120_000 };

/**
 * Starts the server and returns the input schemas of its tools, by name. `modules`: the folder of installed packages; `home`: the folder
 * in which it runs, and its home.
 */
export async function listToolSchemas(
  { package: name, args = [], env = {} }: ToolServer,
  modules: string,
  home: string,
): Promise<ReadonlyMap<string, unknown>> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [join(modules, name, programOf(join(modules, name))), ...args],
    env: { PATH: process.env['PATH'] ?? '', HOME: home, ...env },
    cwd: home,
    stderr: 'ignore',
  });
  const client = new Client({ name: 'svc', version: '0' });
  try {
    await client.connect(transport, TIMEOUT);
    const schemas = new Map<string, unknown>();
    let cursor: string | undefined;
    do {
      const page = await client.listTools(cursor === undefined ? {} : { cursor }, TIMEOUT);
      for (const tool of page.tools) schemas.set(tool.name, tool.inputSchema);
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    return schemas;
  } finally {
    await client.close();
  }
}

/** The first program of a package. */
function programOf(folder: string): string {
  const { bin }: { readonly bin?: unknown } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as object;
  const program = isJsonObject(bin) ? Object.values(bin)[0] : bin;
  if (typeof program !== 'string') throw new Error(`${folder} has no program`);
  return program;
}

export function versionOf(folder: string): string {
  return stringAt(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')), 'version') ?? '';
}
