import { expect, test } from 'vitest';
import { secretsOf, wantsColour } from '../../src/config/environment.ts';

test('svc colours a terminal that supports it, unless NO_COLOR is set', () => {
  expect(wantsColour(true, {})).toBe(true);
  expect(wantsColour(true, { NO_COLOR: '' })).toBe(true);
  expect(wantsColour(false, {})).toBe(false);
  expect(wantsColour(true, { NO_COLOR: '1' })).toBe(false);
  expect(wantsColour(true, { TERM: 'dumb' })).toBe(false);
});

test('FORCE_COLOR overrides everything else', () => {
  expect(wantsColour(false, { FORCE_COLOR: '1', NO_COLOR: '1' })).toBe(true);
  expect(wantsColour(true, { FORCE_COLOR: '0' })).toBe(false);
  expect(wantsColour(true, { FORCE_COLOR: '' })).toBe(true);
});

test('a variable is a secret if its name looks like a credential', () => {
  const env = {
    OPENAI_API_KEY: 'value-of-openai',
    GITHUB_TOKEN: 'value-of-github',
    SVC_PASSWORD: 'value-of-password',
    AWS_SECRET_ACCESS_KEY: 'value-of-aws',
    HOME: '/home/someone',
    SVC_LOG_LEVEL: 'debugging',
    GOOGLE_APPLICATION_CREDENTIALS_FILE: '/run/secrets/google.json',
    SSH_AUTH_SOCK: '/tmp/agent.1234',
  };
  expect(new Set(secretsOf(env))).toEqual(
    new Set(['value-of-openai', 'value-of-github', 'value-of-password', 'value-of-aws']),
  );
});

test('the longest secret comes first, so that none hides inside another', () => {
  expect(secretsOf({ A_KEY: 'abcdefgh', B_KEY: 'abcdefghijkl' })).toEqual(['abcdefghijkl', 'abcdefgh']);
});

test('a password inside a URL is a secret, whatever the name of the variable', () => {
  expect(secretsOf({ HTTPS_PROXY: 'http://user:proxypass@proxy.internal:3128' })).toEqual(['proxypass']);
});

test('every line of a private key is a secret', () => {
  const key = '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\nkqhkiG9w0BAQEF\n-----END PRIVATE KEY-----';
  expect(secretsOf({ SIGNING_KEY: key })).toEqual([key, 'MIIEvQIBADANBg', 'kqhkiG9w0BAQEF']);
});

test('values that are too short or too plain are not secrets', () => {
  expect(secretsOf({ API_KEY: 'abc', AUTH_PLUGIN: 'disabled' })).toEqual([]);
});
