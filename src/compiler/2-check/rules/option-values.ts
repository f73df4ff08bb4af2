import { didYouMean, didYouMeanOneOf } from '../../../base/suggestion.ts';
import type { OptionViolation } from '../../../schema/providers/option-shapes.ts';
import { readOptions } from '../../../schema/providers/provider-description.ts';
import { PROVIDER_DESCRIPTIONS, type Provider } from '../../../schema/providers/providers.ts';
import type { ClientNode } from '../../1-parse/syntax-nodes.ts';
import { optionsOf } from '../build-definitions.ts';
import type { CheckContext, Rule } from '../check-context.ts';
import { entryValue, providerOf, stringOf, entryData, siteOf, type OptionSite } from '../node-values.ts';
import { misplacement } from './misplaced-options.ts';

/**
 * The options of a client match the description of its provider. The runtime reads options with the same function, so
 * any other option would fail at the first call.
 */
export const optionValues: Rule = (context) => {
  for (const node of context.scope.clients.values()) {
    const provider = providerOf(node);
    const options = entryValue(node.entries, 'options');
    if (provider === undefined || options?.kind === 'broken') continue;
    if (options === undefined || options.kind === 'map') checkClient(context, provider, node);
    else context.report('check/option-value', options.span, { name: 'options', problem: 'has to be a block `{ … }`' });
  }
};

function checkClient(context: CheckContext, provider: Provider, node: ClientNode): void {
  const description = PROVIDER_DESCRIPTIONS[provider];
  const data = new Map(Object.entries(entryData(optionsOf(node))));
  const { violations } = readOptions(description, data);
  for (const violation of violations) {
    if (!isMissingModel(violation)) report(context, { provider, node, violation });
  }
  const namesModel = data.has('model') || node.entries.some(({ key }) => key.text === 'model');
  const lacksModel = violations.some(isMissingModel) || (description.expectsModel === true && !namesModel);
  if (!lacksModel || node.broken === true) return;
  context.report('check/no-model', node.name.span, { name: 'model', owner: `client "${node.name.text}"` });
}

/** A client without a model does not keep svc from serving: a request can bring another client. */
function isMissingModel(violation: OptionViolation): boolean {
  return violation.kind === 'missing' && violation.alternatives.some(([option]) => option === 'model');
}

interface Found {
  readonly provider: Provider;
  readonly node: ClientNode;
  readonly violation: OptionViolation;
}

function report(context: CheckContext, found: Found): void {
  const { node, violation } = found;
  const lacksPart = violation.kind === 'missing' || violation.kind === 'incomplete';
  // The option could be in the part that did not parse.
  if (lacksPart && node.broken === true) return;
  if (violation.kind === 'missing') {
    const name = violation.alternatives.map((options) => options.map((key) => `"${key}"`).join(' and '));
    const owner = `client "${node.name.text}"`;
    context.report('check/missing-option', node.name.span, { name: joined(name), owner, why: violation.why });
    return;
  }
  const site = siteOf(optionsOf(node), violation);
  if (site !== undefined) reportAt(context, found, site);
}

function reportAt(context: CheckContext, { provider, node, violation }: Found, { name, span }: OptionSite): void {
  switch (violation.kind) {
    case 'unknown':
      context.report('check/unknown-option', span, {
        name,
        owner: ownerOf(provider, violation),
        suggestion: didYouMeanOneOf(name, violation.known),
      });
      return;
    case 'unused': {
      const entry = optionsOf(node).find(({ key }) => key.text === name);
      // The rule about misplaced options reports it.
      if (entry !== undefined && misplacement(entry) !== undefined) return;
      const suggestion = didYouMean(name, violation.known);
      context.report('check/unused-option', span, { name, owner: `provider "${provider}"`, suggestion });
      return;
    }
    case 'excluded': {
      const { other } = violation;
      const first = optionsOf(node).find(({ key }) => key.text === other);
      const related = first === undefined ? [] : [{ span: first.key.span, message: `"${other}"` }];
      context.report('check/exclusive-options', span, { first: other, second: name }, related);
      return;
    }
    case 'role': {
      const role = stringOf(entryValue(optionsOf(node), name)) ?? '';
      context.report('check/default-role', span, { name: role, allowed: violation.allowed.join(', ') });
      return;
    }
    case 'empty':
      if (name === 'strategy') {
        context.report('check/empty-strategy', span, { name: node.name.text });
        return;
      }
      break;
    case 'name':
    case 'value':
      if (violation.isText === true) {
        context.report('check/unusable-option', span, { name, problem: violation.message });
        return;
      }
      break;
    case 'incomplete':
    case 'missing':
      break;
  }
  context.report('check/option-value', span, { name, problem: violation.message });
}

function ownerOf(provider: Provider, { path }: OptionViolation): string {
  if (path.length === 1) return `The provider "${provider}"`;
  return path[0] === 'http' ? `The \`http\` block of provider "${provider}"` : `\`${path[0]}\``;
}

/** `"a"`, `"a" or "b"`; with a comma when an alternative is a pair. */
function joined(alternatives: readonly string[]): string {
  return alternatives.join(alternatives.some((each) => each.includes(' and ')) ? ', or ' : ' or ');
}
