import { KIND_WORDS } from '../scope.ts';
import type { AttributeNode, DeclarationNode, EntryNode, NameNode, ValueNode } from '../../1-parse/syntax-nodes.ts';
import { type CheckContext, type Rule, labelOf } from '../check-context.ts';
import { eachDuplicate, entryValue, isConstraint, listItems, stringOf } from '../node-values.ts';

/**
 * Everything that a type, a prompt or a request can name needs its own name. Retry policies and generators have separate
 * namespaces. With two declarations of one name, it would be arbitrary which one applies.
 */
export const uniqueNames: Rule = ({ scope, report }) => {
  const shared = scope.declarations.filter(
    (node) => node.kind !== 'test' && node.kind !== 'retry_policy' && node.kind !== 'generator',
  );
  for (const group of [shared, scope.ofKind('retry_policy'), scope.generators]) {
    eachDuplicate<DeclarationNode>(
      group,
      (node) => node.name.text,
      (node, first) => {
        const related = [{ span: first.name.span, message: `first declared here, as ${KIND_WORDS[first.kind]}` }];
        report('check/duplicate-name', node.name.span, { name: node.name.text, what: KIND_WORDS[node.kind] }, related);
      },
    );
  }
};

/** Fields, enum values and parameters have different names, because other parts refer to them by name. */
export const uniqueMembers: Rule = ({ scope, reportDuplicates }) => {
  for (const node of scope.declarations) {
    const owner = `${node.kind} "${node.name.text}"`;
    if (node.kind === 'class') reportDuplicates('check/duplicate-field', node.fields.map(nameOf), owner);
    if (node.kind === 'enum') reportDuplicates('check/duplicate-value', node.values.map(nameOf), owner);
    if (node.kind === 'function' || node.kind === 'template_string') {
      reportDuplicates('check/duplicate-parameter', node.parameters.map(nameOf), owner);
    }
  }
};

function nameOf({ name }: { readonly name: NameNode }): NameNode {
  return name;
}

/** A key appears once in a block or map: the last value applies, and any other is lost. */
export const uniqueKeys: Rule = (context) => {
  for (const node of context.scope.declarations) {
    if ('entries' in node) checkEntries(context, node.entries);
  }
};

function checkEntries(context: CheckContext, entries: readonly EntryNode[]): void {
  context.reportDuplicates(
    'check/duplicate-key',
    entries.map(({ key }) => key),
  );
  for (const entry of entries) if (entry.value !== undefined) checkValue(context, entry.value);
}

function checkValue(context: CheckContext, value: ValueNode): void {
  if (value.kind === 'map') checkEntries(context, value.entries);
  if (value.kind === 'list') for (const item of value.items) checkValue(context, item);
}

/** The tests of one function have different names. Tests of different functions can share one. */
export const uniqueTests: Rule = ({ scope, report }) => {
  const tested = scope.tests.flatMap((test) =>
    listItems(entryValue(test.entries, 'functions')).map((item) => ({ test, item, name: stringOf(item) ?? '' })),
  );
  eachDuplicate(
    tested.filter(({ name }) => name !== ''),
    ({ test, name }) => `${test.name.text} ${name}`,
    ({ test, item, name }, first) => {
      const related = [{ span: first.test.name.span, message: 'the first one' }];
      const span = test === first.test ? item.span : test.name.span;
      report('check/duplicate-test', span, { name: test.name.text, owner: `function "${name}"` }, related);
    },
  );
};

/**
 * An attribute appears once in a place, except constraints, whose checks have different labels. Stream attributes of fields
 * and types have no arguments, so a second one changes nothing.
 */
export const uniqueAttributes: Rule = ({ attributeSites, reportDuplicates }) => {
  for (const { attributes } of attributeSites) {
    const checks = attributes.flatMap((node) => {
      const text = node.name === 'check' ? labelOf(node) : undefined;
      return text === undefined ? [] : [{ text, span: node.span }];
    });
    const others = attributes.filter((node) => !isConstraint(node));
    reportDuplicates('check/duplicate-attribute', others.filter((node) => !isHarmless(node)).map(named));
    reportDuplicates('check/repeated-attribute', others.filter(isHarmless).map(named));
    reportDuplicates('check/duplicate-label', checks);
  }
};

function isHarmless({ name, block }: AttributeNode): boolean {
  return name.startsWith('stream.') && !block;
}

function named({ name, span }: AttributeNode): NameNode {
  return { text: name, span };
}
