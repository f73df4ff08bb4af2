import { unknownFilter } from '../../../diagnostics/catalogue/template.ts';
import { FILTERS, isFilterName } from '../../../schema/template-vocabulary.ts';
import type { FilterCall } from '../../../schema/template.ts';
import { reportArguments } from './fit-arguments.ts';
import type { RuleContext } from './template-rule.ts';

/** A filter has to exist and to get the arguments that it takes: anything else fails for certain. */
export function unknownFilterRule(filter: FilterCall, context: RuleContext): void {
  const { name } = filter;
  if (!isFilterName(name)) {
    context.report(unknownFilter(context.span(filter), name, Object.keys(FILTERS)));
    return;
  }
  const parameters = name === 'format' ? formatParameters(filter) : FILTERS[name];
  reportArguments({ what: `filter "${name}"`, parameters, ...filter }, context);
  const [inner] = filter.args.positional;
  if (name === 'map' && inner?.kind === 'string' && !isFilterName(inner.value)) {
    context.report(unknownFilter(context.span(inner), inner.value, Object.keys(FILTERS)));
  }
}

/** `format=` is another name of `type=`: one of them has to be there. */
function formatParameters({ args }: FilterCall): readonly string[] {
  const [type, ...others] = FILTERS.format;
  return args.named.some((entry) => entry.name === 'format') ? FILTERS.format : [type.replace('?', ''), ...others];
}
