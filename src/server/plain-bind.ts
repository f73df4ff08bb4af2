import { AsyncResource } from 'node:async_hooks';

type AnyFunction = (this: unknown, ...args: readonly unknown[]) => unknown;

/**
 * Replaces `AsyncResource.prototype.bind` in this process: bound functions no longer have the property `asyncResource`, which Node has
 * deprecated (DEP0172).
 *
 * node:http2 binds a function for each request. For that property, Node makes two accessors each time and, before Node 22, changes
 * their prototypes. V8 keeps those prototypes, and the request with them, until it collects the old generation: 2 KB more
 * for each request, and a tenth of the CPU time of a call over HTTP/2.
 */
export function usePlainBind(): void {
  Object.defineProperty(AsyncResource.prototype, 'bind', { value: bind, writable: true, configurable: true });
}

function bind(this: AsyncResource, callback: AnyFunction, receiver?: unknown): AnyFunction {
  if (typeof callback !== 'function') throw new TypeError('bind needs a function');
  const run = (self: unknown, args: readonly unknown[]): unknown => this.runInAsyncScope(callback, self, ...args);
  if (receiver !== undefined) return (...args) => run(receiver, args);
  return function bound(...args) {
    return run(this, args);
  };
}
