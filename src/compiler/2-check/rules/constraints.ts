import type { AliasNode, AttributeNode, TypeNode } from '../../1-parse/syntax-nodes.ts';
import { isConstraint } from '../node-values.ts';
import { type AliasGraph, expressionOf, labelOf, type CheckContext, type Rule } from '../check-context.ts';
import { walkType, type DefinitionScope, typesIn } from '../scope.ts';
import type { Diagnostic } from '../../../diagnostics/diagnostic.ts';

/** The labels that BAML reads. */
const LABEL = /^[^\s.-]+$/u;

/** A constraint has an optional label (required for @check, whose results are listed by label) and one expression. */
export const constraintForm: Rule = (context) => {
  for (const { attributes } of context.attributeSites) {
    for (const node of attributes) {
      if (isConstraint(node)) checkForm(context, node);
    }
  }
};

function checkForm({ report }: CheckContext, node: AttributeNode): void {
  const name = `${node.block ? '@@' : '@'}${node.name}`;
  const [first] = node.arguments;
  if (node.arguments.some((argument) => argument.kind === 'broken')) return;
  if (expressionOf(node) === undefined) report('check/constraint-expression', node.span, { name });
  else if (node.arguments.length > 2 || (node.arguments.length === 2 && first?.kind !== 'string')) {
    report('check/attribute-arguments', node.span, { name, expected: 'a label and one expression' });
  } else if (node.name === 'check' && first?.kind === 'expression') report('check/constraint-label', node.span, {});
  else if (first?.kind === 'string' && (first.quoted || !LABEL.test(first.value))) {
    report('check/constraint-quoted-label', first.span, { name: first.value });
  }
}

/**
 * The checks of a field or type have other labels than the checks of the class or alias that it uses. All results of a
 * value are listed together by label, so one result would hide the other.
 */
export const repeatedLabels: Rule = (context) => {
  for (const { type, attributes } of context.typeSites) {
    walkType(type, (inner) => {
      const own = inner === type ? [...inner.attributes, ...attributes] : inner.attributes;
      if (own.length > 0) reportRepeated(context, own, inner);
    });
  }
};

function reportRepeated(context: CheckContext, own: readonly AttributeNode[], type: TypeNode): void {
  const inherited = new Map(inheritedChecks(context, type).map((node) => [labelOf(node), node]));
  for (const node of own.filter(isCheck)) {
    const first = inherited.get(labelOf(node));
    if (first === undefined || first === node) continue;
    const related = [{ span: first.span, message: 'the check of the type' }];
    context.report('check/repeated-label', node.span, { name: labelOf(node) ?? '' }, related);
  }
}

/** Returns the checks of the class, enum and aliases that a type refers to. */
function inheritedChecks({ scope, aliases }: CheckContext, type: TypeNode): readonly AttributeNode[] {
  const found: AttributeNode[] = [];
  for (let next: TypeNode | undefined = type; next !== undefined;) {
    if (next !== type) found.push(...next.attributes);
    const name: string = next.kind === 'name' ? next.name : '';
    const alias: AliasNode | undefined = aliases.named(next);
    const block = alias ?? scope.classes.get(name) ?? scope.enums.get(name);
    found.push(...(block?.attributes ?? []));
    next = next.kind === 'optional' ? next.type : alias?.type;
  }
  return found.filter(isCheck);
}

function isCheck(node: AttributeNode): boolean {
  return node.name === 'check' && labelOf(node) !== undefined;
}

/** Parameters have no @check: only results carry the outcome of checks. @assert applies to arguments. */
export const parameterChecks: Rule = ({ scope, aliases, report }) => {
  for (const node of scope.functions.values()) {
    for (const parameter of node.parameters) {
      if (parameter.type === undefined) continue;
      const attributes = [...parameter.attributes, ...attributesWithin(parameter.type, scope, aliases)];
      const check = attributes.find((attribute) => attribute.name === 'check');
      if (check === undefined) continue;
      const related = [{ span: check.span, message: 'the check' }];
      report('check/parameter-check', parameter.name.span, { name: parameter.name.text }, related);
    }
  }
};

/**
 * Returns the attributes of a type, of the types inside it and of the aliases that it uses, without those of classes.
 */
function attributesWithin(root: TypeNode, scope: DefinitionScope, aliases: AliasGraph): readonly AttributeNode[] {
  return typesIn(root).flatMap((type) => {
    const alias = type.kind === 'name' ? scope.aliases.get(type.name) : undefined;
    const target = aliases.named(type)?.type;
    const inner = target === undefined ? [] : attributesWithin(target, scope, aliases);
    return [...type.attributes, ...(alias?.attributes ?? []), ...inner];
  });
}

/**
 * The expression of a constraint is readable. If not, calls of the functions that take or return its type fail, and svc serves the
 * others, so it is a warning, except in the types of a request.
 */
export const constraintSyntax: Rule = ({ attributeSites, diagnostics, options, templates }) => {
  for (const { place, attributes } of attributeSites) {
    for (const attribute of attributes) {
      const problems = templates.problemsOf(attribute);
      diagnostics.push(...(place === 'test' || options.ofRequest === true ? problems : problems.map(unreadable)));
    }
  }
};

const FAILING = 'Calls of functions that take or return the type fail.';

function unreadable(problem: Diagnostic): Diagnostic {
  return { ...problem, severity: 'warning', help: [problem.help ?? [], FAILING].flat().join(' ') };
}
