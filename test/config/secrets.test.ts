import { expect, test } from 'vitest';
import { secretsOf } from '../../src/config/secrets.ts';

test('variables with the name of a credential are secrets, others are not', () => {
  const env = {
    OPENAI_API_KEY: 'value-of-openai',
    GITHUB_TOKEN: 'value-of-github',
    SVC_PASSWORD: 'value-of-password',
    AWS_SECRET_ACCESS_KEY: 'value-of-aws',
    HOME: '/home/somebody',
    SVC_LOG_LEVEL: 'debugging',
    GOOGLE_APPLICATION_CREDENTIALS_FILE: '/run/secrets/google.json',
    SSH_AUTH_SOCK: '/tmp/agent.1234',
  };
  expect(new Set(secretsOf(env))).toEqual(
    new Set(['value-of-openai', 'value-of-github', 'value-of-password', 'value-of-aws']),
  );
});

test('the longest comes first, so that no secret hides inside another', () => {
  expect(secretsOf({ A_KEY: 'abcdefgh', B_KEY: 'abcdefghijkl' })).toEqual(['abcdefghijkl', 'abcdefgh']);
});

test('a password inside a URL is a secret whatever the variable is called', () => {
  expect(secretsOf({ HTTPS_PROXY: 'http://user:proxypass@proxy.internal:3128' })).toEqual(['proxypass']);
});

test('every line of a private key is a secret', () => {
  const key = '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\nkqhkiG9w0BAQEF\n-----END PRIVATE KEY-----';
  expect(secretsOf({ SIGNING_KEY: key })).toEqual([key, 'MIIEvQIBADANBg', 'kqhkiG9w0BAQEF']);
});

test('words too short or too plain to be a credential would only make the log unreadable', () => {
  expect(secretsOf({ API_KEY: 'abc', AUTH_PLUGIN: 'disabled' })).toEqual([]);
});
