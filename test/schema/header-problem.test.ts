import { expect, test } from 'vitest';
import { headerProblem } from '../../src/schema/providers/option-shapes.ts';

const NAME = { of: 'name', message: 'is not a header name' };
const CONNECTION = { of: 'name', message: 'belongs to the connection and cannot be set' };
const VALUE = { of: 'value', message: 'has a value with characters that no header can contain' };
const OF_THE_CONNECTION =
  'Connection keep-alive Proxy-Authorization proxy-authenticate proxy-connection TE Trailer Transfer-Encoding upgrade Host content-length expect';

test.each([
  [undefined, ['x-a', 'X-Title', 'anthropic-beta', 'a', "!#$%&'*+-.^_`|~09az"]],
  [NAME, ['', ' ', 'x a', 'x:', 'x\r\ny', 'x\0', 'x/', 'é', '(x)', 'x\ty', '{x}']],
  [CONNECTION, OF_THE_CONNECTION.split(' ')],
])('the problem of a header is %j for the names %j', (problem, names) => {
  for (const name of names) expect([name, headerProblem(name, 'v')]).toEqual([name, problem]);
});

test.each([
  [undefined, ['', 'a b', 'a\tb', 'é', 'Bearer abc.def-_~+/=']],
  [VALUE, ['a\rb', 'a\nb', 'a\r\nx-b: c', 'a\0b', '\u007f', 'a\u0001', '☃', '\u2028']],
])('the problem of a header is %j for the values %j', (problem, values) => {
  for (const value of values) expect([value, headerProblem('x-a', value)]).toEqual([value, problem]);
});
