import type { Template } from '../../../schema/template.ts';

/** Returns the first match in the plain text of a template, such as a name in the interpolation of another language. */
export function plainTextUse({ body }: Template, pattern: RegExp): string | undefined {
  for (const statement of body) {
    const found = statement.kind === 'text' ? pattern.exec(statement.text) : null;
    if (found !== null) return found[0];
  }
  return undefined;
}
