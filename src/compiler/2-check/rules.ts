import type { Rule } from './check-context.ts';
import { unknownType } from './rules/unknown-type.ts';

/** All laws. Their order does not matter: diagnostics are sorted by place. */
export const RULES: readonly Rule[] = [unknownType];
