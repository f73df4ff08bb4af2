import { renameSync } from 'node:fs';
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
