import { isTemplateFault } from './template-fault.ts';

/**
 * Why a template could not be evaluated. Also for what the JavaScript engine refuses: a stack or a string that grows
 * too large. Anything else is a bug and thrown on.
 */
export function reasonOf(error: unknown): string {
  if (isTemplateFault(error)) return error.message;
  if (error instanceof RangeError) return 'it is nested too deeply or becomes too large';
  throw error;
}
