/**
 * Reports that a template cannot be rendered. Thrown inside compiled templates and turned into a failure at the edge of this
 * folder; no other code sees it. The message names kinds of values, never their content.
 */
export class TemplateFault extends Error {
  readonly code = 'template_fault';
  override readonly name = 'TemplateFault';
}

/**
 * Returns why a template could not be evaluated. Covers what the JavaScript engine refuses, a stack or a string that grows
 * too large; throws any other error again, because it is a bug.
 */
export function templateReason(error: unknown): string {
  if (error instanceof TemplateFault) return error.message;
  if (error instanceof RangeError) return 'it is nested too deeply or becomes too large';
  throw error;
}
