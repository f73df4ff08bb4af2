/** Thrown for a state that only a bug can reach. Its message goes to our log, never to a caller. */
export class InternalError extends Error {
  readonly code = 'internal_error';
  override readonly name = 'InternalError';
}

/** Throws InternalError unless `condition` holds. */
export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new InternalError(message);
}

/** The last branch of a switch over a union: the compiler rejects it while a member is not handled. */
export function unreachable(value: never): never {
  throw new InternalError(`unhandled case: ${JSON.stringify(value)}`);
}

/** The `code` of an Error, such as ENOENT; undefined if it has none. */
export function codeOf(thrown: unknown): string | undefined {
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : undefined;
}

/** The message of an Error, or the text of whatever else was thrown. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
