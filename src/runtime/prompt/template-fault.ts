/**
 * A template that cannot be rendered. Thrown deep inside of compiled templates and turned into a failure at the edge
 * of this folder; nothing outside sees it. The message names kinds of values, never their content.
 */
export class TemplateFault extends Error {
  readonly code = 'template_fault';
  override readonly name = 'TemplateFault';
}

export function isTemplateFault(error: unknown): error is TemplateFault {
  return error instanceof Error && 'code' in error && error.code === 'template_fault';
}
