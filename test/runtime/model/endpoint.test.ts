import { expect, test } from 'vitest';
import { endpointOf } from '../../../src/runtime/model/http/address-guard.ts';

test.each<[string, object]>([
  ['https://api.example.com', { host: 'api.example.com', port: 443, authority: 'api.example.com:443' }],
  ['http://api.example.com', { host: 'api.example.com', port: 80, authority: 'api.example.com:80' }],
  ['https://api.example.com:8443', { host: 'api.example.com', port: 8443, authority: 'api.example.com:8443' }],
  ['http://10.1.2.3:8080', { host: '10.1.2.3', port: 8080, authority: '10.1.2.3:8080' }],
  ['https://[fd00::1]', { host: 'fd00::1', port: 443, authority: '[fd00::1]:443' }],
  ['http://user:word@[::1]:3128', { host: '::1', port: 3128, authority: '[::1]:3128' }],
])('the endpoint of %s', (url, endpoint) => {
  expect(endpointOf(new URL(url))).toMatchObject(endpoint);
});

test('TLS sends the name of a host, but no address', () => {
  expect(endpointOf(new URL('https://api.example.com'))).toMatchObject({
    isSecure: true,
    servername: 'api.example.com',
  });
  expect(endpointOf(new URL('https://10.1.2.3'))).toMatchObject({ isSecure: true, servername: '' });
  expect(endpointOf(new URL('https://[fd00::1]'))).toMatchObject({ isSecure: true, servername: '' });
});
