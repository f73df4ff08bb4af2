// A thread that ends would otherwise unload the native library of swc, and the next thread that loads it would crash the
// process (SIGSEGV).
await import('@swc/core');

/** Returns the URL of the entry file of a thread, which loads TypeScript with `typescript-hooks.mjs`. `base`: the caller's URL. */
export function sourceThread(path: string, base: string): URL {
  return new URL(path, base);
}
