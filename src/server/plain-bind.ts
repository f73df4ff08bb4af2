import { AsyncResource } from 'node:async_hooks';

type AnyFunction = (this: unknown, ...args: readonly unknown[]) => unknown;

/**
 * Replaces `AsyncResource.prototype.bind` in this process with a version that defines neither the deprecated property `asyncResource`
 * (DEP0172) nor `length` on bound functions.
 *
 * node:http2 binds a function for each request. To define that property, Node creates two accessors each time and, in Node 20,
 * changes their prototypes. V8 keeps those prototypes, and the request that they refer to, until it collects the old generation. On
 * Node 20, this costs 2 KB per request and a tenth of the CPU time of a call over HTTP/2.
 */
export function usePlainBind(): void {
  Object.defineProperty(AsyncResource.prototype, 'bind', { value: bind, writable: true, configurable: true });
}

function bind(this: AsyncResource, callback: AnyFunction, receiver?: unknown): AnyFunction {
  if (typeof callback !== 'function')
    throw new TypeError('the first argument of AsyncResource.bind must be a function');
  const run: AnyFunction = this.runInAsyncScope.bind(this, callback);
  if (receiver !== undefined) return run.bind(undefined, receiver);
  return function bound(...args) {
    return run(this, ...args);
  };
}
