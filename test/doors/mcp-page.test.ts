import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { expect, test } from 'vitest';
import { ROOT } from '../architecture/source-files.ts';
import { blocksOfCallerPage, outputPattern, readCallerPages } from '../support/documented-page.ts';
import { SVC_MAIN } from '../support/running-server.ts';

interface HostConfig {
  readonly mcpServers: {
    readonly contacts: {
      readonly command?: string;
      readonly args?: readonly string[];
      readonly url?: string;
      readonly headers?: Readonly<Record<string, string>>;
    };
  };
}

async function toolNames(transport: Transport): Promise<readonly string[]> {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transport);
  const { tools } = await client.listTools();
  await client.close();
  return tools.map(({ name }) => name);
}

test('the configurations of docs/callers/mcp.md connect, and its commands print what it shows', async () => {
  const reader = await readCallerPages(join(ROOT, 'node_modules'), '{}');
  try {
    const blocks = blocksOfCallerPage('mcp').filter(({ mark }) => mark === undefined);
    expect(blocks.map(({ language }) => language)).toEqual(['json', 'sh', 'json', 'sh', 'js', 'sh']);
    for (const block of blocks) {
      if (block.language !== 'json') {
        const printed = await reader.follow(block);
        if (block.output !== undefined) expect(printed.trim()).toMatch(outputPattern(block.output));
        continue;
      }
      const { contacts } = (JSON.parse(reader.here(block.code)) as HostConfig).mcpServers;
      const { args = [], command, headers = {}, url = '' } = contacts;
      const transport =
        command === undefined
          ? new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } })
          : new StdioClientTransport({ command: process.execPath, args: [SVC_MAIN, ...args], cwd: reader.folder });
      expect(await toolNames(transport)).toEqual(['ReadContact']);
    }
  } finally {
    await reader.stop();
  }
});
