import { dedent, dedentTemplateString, type TemplateSource } from '../../compiler/1-parse/dedent.ts';
import type {
  AttributeNode,
  DeclarationNode,
  DocumentNode,
  ExpressionNode,
  RawStringNode,
} from '../../compiler/1-parse/syntax-nodes.ts';
import { parseExpression, parseTemplate } from '../../compiler/1-parse/template/parse-template.ts';
import { namesOfCondition, namesOfTemplate, type Analysis } from '../../compiler/2-check/check.ts';
import { expressionOf } from '../../compiler/2-check/check-context.ts';
import { entryValue, isConstraint } from '../../compiler/2-check/node-values.ts';
import { typed, type StaticValue } from '../../compiler/2-check/templates/static-value.ts';
import { TemplateWalker, type TemplateRules } from '../../compiler/2-check/templates/template-walker.ts';
import type { DefinitionIndex } from '../../schema/program.ts';
import { typeText } from '../../schema/type-graph.ts';
import { declarationAt, touches } from './places.ts';

/** A prompt, a template_string or the expression of a constraint, with the definition that contains it. */
export type TemplatePlace =
  | { readonly kind: 'template'; readonly owner: DeclarationNode; readonly node: RawStringNode }
  | {
      readonly kind: 'constraint';
      readonly owner: DeclarationNode;
      readonly node: ExpressionNode;
      readonly field?: string;
    };

/** Returns the template at an offset of a file. */
export function templateAt(document: DocumentNode, offset: number): TemplatePlace | undefined {
  const owner = declarationAt(document, offset);
  if (owner === undefined) return undefined;
  const node = bodyOf(owner);
  if (node !== undefined && touches(node.span, offset)) return { kind: 'template', owner, node };
  return constraintsIn(owner).find((place) => touches(place.node.span, offset));
}

function bodyOf(node: DeclarationNode): RawStringNode | undefined {
  if (node.kind === 'template_string') return node.body;
  const prompt = node.kind === 'function' ? entryValue(node.entries, 'prompt') : undefined;
  return prompt?.kind === 'raw-string' ? prompt : undefined;
}

function constraintsIn(owner: DeclarationNode): readonly TemplatePlace[] {
  const of = (attributes: readonly AttributeNode[], field?: string): readonly TemplatePlace[] =>
    attributes.filter(isConstraint).flatMap((attribute) => {
      const node = expressionOf(attribute);
      return node === undefined ? [] : [{ kind: 'constraint', owner, node, ...(field !== undefined && { field }) }];
    });
  const ofBlock = 'attributes' in owner ? of(owner.attributes) : [];
  if (owner.kind !== 'class') return ofBlock;
  const ofFields = owner.fields.flatMap(({ name, type, attributes }) =>
    of([...attributes, ...(type?.attributes ?? [])], name.text),
  );
  return [...ofBlock, ...ofFields];
}

/** Walks the template with these rules, and returns the walker: it has the value of each expression. */
export function walkTemplate(
  place: TemplatePlace,
  analysis: Analysis,
  definitions: DefinitionIndex,
  rules: TemplateRules,
): TemplateWalker {
  const { file } = place.node.span;
  const names = namesIn(place, analysis, definitions);
  const isCondition = place.kind === 'constraint';
  const walker = new TemplateWalker({ file, definitions, isCondition }, names, rules);
  if (place.kind === 'template') walker.body(parseTemplate(sourceOf(place.node, place.owner)).template.body);
  else {
    const { source: text, contentStart } = place.node;
    const { expression } = parseExpression({ file, text, toFileOffset: (offset) => contentStart + offset });
    if (expression !== undefined) walker.expression(expression);
  }
  return walker;
}

/** The type of a value in the syntax of definition files; an empty string if it, or a part of it, is unknown. */
export function knownType(value: StaticValue): string {
  const text = value.kind === 'typed' ? typeText(value.type) : '';
  return /^\W*$|, >/u.test(text) ? '' : text;
}

function sourceOf({ raw, contentStart, span }: RawStringNode, owner: DeclarationNode): TemplateSource {
  return (owner.kind === 'function' ? dedent : dedentTemplateString)(raw, contentStart, span.file);
}

function namesIn(place: TemplatePlace, analysis: Analysis, definitions: DefinitionIndex): Map<string, StaticValue> {
  const { kind, name } = place.owner;
  if (place.kind === 'template') {
    const owner = kind === 'function' ? definitions.functions : definitions.templateStrings;
    return namesOfTemplate(owner.get(name.text)?.parameters ?? []);
  }
  if (kind === 'test') {
    const test = analysis.tests.find(({ span }) => span.start === name.span.start && span.file === name.span.file);
    const fn = test?.functions.flatMap((each) => definitions.functions.get(each) ?? [])[0];
    if (test !== undefined && fn !== undefined) return namesOfCondition(test, test.constraints.length, fn);
  }
  return new Map([['this', subjectOf(place, definitions)]]);
}

/** The value that a constraint is about. */
function subjectOf(
  place: Extract<TemplatePlace, { readonly kind: 'constraint' }>,
  definitions: DefinitionIndex,
): StaticValue {
  const { owner, field } = place;
  const name = owner.name.text;
  if (owner.kind === 'enum') return typed({ kind: 'enum', name });
  if (owner.kind !== 'class') return { kind: 'any' };
  if (field === undefined) return typed({ kind: 'class', name });
  const type = definitions.classes.get(name)?.fields.find((each) => each.name === field)?.type;
  return type === undefined ? { kind: 'any' } : typed(type);
}
