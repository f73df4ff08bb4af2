import type { Rule } from '../check-context.ts';

/** An alias that reaches itself without a list or a map in between stands for nothing. */
export const aliasCycles: Rule = ({ aliases, report }) => {
  for (const group of aliases.endless) {
    const [first, ...others] = group;
    if (first === undefined) continue;
    const path = [...group, first].map((node) => node.name.text).join(' -> ');
    const related = others.map((node) => ({ span: node.name.span, message: 'part of the cycle' }));
    report('check/alias-cycle', first.name.span, { path }, related);
  }
};
