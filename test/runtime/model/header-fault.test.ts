import { expect, test } from 'vitest';
import { headerFault } from '../../../src/runtime/model/options/header-fault.ts';

test.each(['x-a', 'X-Title', 'anthropic-beta', 'a', "!#$%&'*+-.^_`|~09az"])('%s is a header name', (name) => {
  expect(headerFault(name, 'v')).toBeUndefined();
});

test.each(['', ' ', 'x a', 'x:', 'x\r\ny', 'x\0', 'x/', 'é', '(x)', 'x\ty', '{x}'])('%j is none', (name) => {
  expect(headerFault(name, 'v')).toBe('is not a header name');
});

test.each([
  'Connection',
  'keep-alive',
  'Proxy-Authorization',
  'proxy-authenticate',
  'proxy-connection',
  'TE',
  'Trailer',
  'Transfer-Encoding',
  'upgrade',
  'Host',
  'content-length',
  'expect',
])('%s belongs to the connection', (name) => {
  expect(headerFault(name, 'v')).toBe('belongs to the connection and cannot be set');
});

test.each(['a\rb', 'a\nb', 'a\r\nx-b: c', 'a\0b', '\u007f', 'a\u0001', '☃', '\u2028'])('%j is no value', (value) => {
  expect(headerFault('x-a', value)).toBe('has a value with characters that no header may hold');
});

test.each(['', 'a b', 'a\tb', 'é', 'Bearer abc.def-_~+/='])('%j is a value', (value) => {
  expect(headerFault('x-a', value)).toBeUndefined();
});
