import { expect, test } from 'vitest';
import { headerProblem } from '../../src/schema/providers/option-shapes.ts';

test.each(['x-a', 'X-Title', 'anthropic-beta', 'a', "!#$%&'*+-.^_`|~09az"])('%s is a header name', (name) => {
  expect(headerProblem(name, 'v')).toBeUndefined();
});

test.each(['', ' ', 'x a', 'x:', 'x\r\ny', 'x\0', 'x/', 'é', '(x)', 'x\ty', '{x}'])(
  '%j is not a header name',
  (name) => {
    expect(headerProblem(name, 'v')).toEqual({ of: 'name', message: 'is not a header name' });
  },
);

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
  expect(headerProblem(name, 'v')).toEqual({ of: 'name', message: 'belongs to the connection and cannot be set' });
});

test.each(['a\rb', 'a\nb', 'a\r\nx-b: c', 'a\0b', '\u007f', 'a\u0001', '☃', '\u2028'])(
  'no header can have the value %j',
  (value) => {
    const message = 'has a value with characters that no header can contain';
    expect(headerProblem('x-a', value)).toEqual({ of: 'value', message });
  },
);

test.each(['', 'a b', 'a\tb', 'é', 'Bearer abc.def-_~+/='])('a header can have the value %j', (value) => {
  expect(headerProblem('x-a', value)).toBeUndefined();
});
