import type { VNode } from 'preact';
import { errorId, useForm } from './form-context.ts';

/** What the server reports about the value at a path. */
export function FieldError({ path }: { readonly path: string }): VNode | null {
  const error = useForm().errors.get(path);
  if (error === undefined) return null;
  return (
    <p class="error" id={errorId(path)}>
      {error}
    </p>
  );
}
