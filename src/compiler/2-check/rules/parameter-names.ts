import type { Rule } from '../check-context.ts';

/** Keys of a request body beside the arguments. */
const REQUEST_KEYS = new Set(['svc_options', '__svc_options__']);
/** What every prompt sees without declaring it. */
const BUILT_INS = new Set(['ctx', '_']);

/** A parameter is a key of the request and a name in the prompt, and must hide nothing in either. */
export const parameterNames: Rule = ({ scope, report }) => {
  for (const node of scope.functions.values()) {
    for (const { name } of node.parameters) {
      if (REQUEST_KEYS.has(name.text)) report('check/reserved-parameter-name', name.span, { name: name.text });
      if (BUILT_INS.has(name.text)) report('check/shadowing-parameter', name.span, { name: name.text });
    }
  }
};
