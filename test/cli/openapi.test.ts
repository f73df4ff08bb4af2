import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { packageInfo } from '../../src/cli/package-info.ts';
import { copySamples, inEmptyDirectory, svc } from './command-line.ts';

inEmptyDirectory();

test('openapi prints the document as JSON, with the tests of the definitions as examples', async () => {
  copySamples();
  const { code, out, error } = await svc('openapi');
  expect({ code, error }).toEqual({ code: 0, error: '' });
  const document = JSON.parse(out);
  expect(document.openapi).toBe('3.0.3');
  expect(Object.keys(document.paths)).toContain('/call/ExtractResume');
  expect(out).toContain('Ada Lovelace');
});

test('openapi reads the directory or file that is passed as the argument', async () => {
  copySamples();
  const { out } = await svc('openapi');
  renameSync('svc_src', 'elsewhere');
  expect(await svc('openapi', 'elsewhere')).toEqual({ code: 0, out, error: '' });
  expect(await svc('openapi', 'elsewhere/clients.svc')).toMatchObject({ code: 0 });
});

test('the title, the version and the path prefix can be set', async () => {
  copySamples();
  expect(JSON.parse((await svc('openapi')).out).info).toMatchObject({ title: 'svc', version: packageInfo().version });
  const { out } = await svc('openapi', '--title', 'Support desk', '--api-version', '1.4.0', '--base-path', '/llm');
  expect(JSON.parse(out)).toMatchObject({
    info: { title: 'Support desk', version: '1.4.0' },
    servers: [{ url: '/llm' }],
  });
});

test('the YAML document equals the JSON document', async () => {
  copySamples();
  const { out: json } = await svc('openapi');
  const { code, out: yaml } = await svc('openapi', '--format', 'yaml');
  expect(code).toBe(0);
  expect(yaml).toMatch(/^openapi: 3\.0\.3\n/u);
  expect(parse(yaml)).toEqual(JSON.parse(json));
});

async function serversOf(...flags: readonly string[]): Promise<unknown> {
  const { code, out, error } = await svc('openapi', ...flags);
  expect({ code, error }).toEqual({ code: 0, error: '' });
  return JSON.parse(out).servers;
}

test('--server states the addresses of the server, each with the base path unless it has a path of its own', async () => {
  copySamples();
  expect(await serversOf()).toEqual([{ url: '/' }]);
  expect(await serversOf('--server', 'http://localhost:2024')).toEqual([{ url: 'http://localhost:2024' }]);
  expect(await serversOf('--server', 'https://a.example/llm/', '--server', 'HTTP://[::1]:80/')).toEqual([
    { url: 'https://a.example/llm' },
    { url: 'http://[::1]' },
  ]);
  const prefixed = ['--base-path', '/llm', '--server', 'https://a.example', '--server', 'https://b.example/v1'];
  expect(await serversOf(...prefixed)).toEqual([{ url: 'https://a.example/llm' }, { url: 'https://b.example/v1' }]);
});

test.each([
  ['nonsense text', 'a URL that begins with http:// or https://, such as http://localhost:2024.'],
  ['', 'such as http://localhost:2024.'],
  ['localhost:2024', 'such as http://localhost:2024.'],
  ['api.example.com/llm', 'such as http://api.example.com/llm.'],
  ['ftp://host', 'such as http://localhost:2024.'],
  ['http://user:pass@host', 'a URL without a user and password: everyone can read the document.'],
  ['http://host/?a=b', 'a URL without "?" and "#": clients append paths to it.'],
  ['http://host/#a', 'a URL without "?" and "#": clients append paths to it.'],
])('a --server that clients cannot use is refused: %s', async (url, allowed) => {
  const { code, out, error } = await svc('openapi', '--server', url);
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(error).toMatch(/^svc: --server is ".*", but must be a URL/u);
  expect(error).toContain(allowed);
});

test('the document has the names of schemas, operations and tags that the page about the move from BAML lists', async () => {
  mkdirSync('svc_src');
  const definitions = `
    class Box {
      size int @check(some, {{ this > 0 }})
      note string?
    }
    class Item {
      label string?
      picture image?
    }
    class ItemInput {
      label string
    }
    function Pack(item: Item, hint: ItemInput) -> Box | Item {
      client "openai/gpt-4o"
      prompt #"{{ item }}{{ hint }}"#
    }`;
  writeFileSync('svc_src/main.svc', definitions);
  const { out } = await svc('openapi');
  const { components, paths } = JSON.parse(out);
  const names = [
    'Box',
    'BoxPartial',
    'Item',
    'ItemInput',
    'ItemInput2',
    'ItemPartial',
    'PackRequest',
    'PackStreamEvent',
  ];
  const own = ['SvcCheck', 'SvcClient', 'SvcImage', 'SvcOptions'];
  expect(Object.keys(components.schemas)).toEqual(expect.arrayContaining([...names, ...own]));
  expect(Object.keys(components.schemas.SvcCheck.properties)).toContain('expression');
  expect(paths['/call/Pack'].post).toMatchObject({ operationId: 'Pack', tags: ['functions'] });
  expect(paths['/stream/Pack'].post).toMatchObject({ operationId: 'streamPack' });
  const page = readFileSync(new URL('../../docs/migrating-from-baml.md', import.meta.url), 'utf8');
  for (const name of ['ItemInput2', 'BoxPartial', 'PackRequest', 'PackStreamEvent', 'streamPack', ...own])
    expect(page).toContain(`\`${name}\``);
});
