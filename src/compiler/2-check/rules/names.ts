import { isOptionsKey } from '../../../base/options-keys.ts';
import type { AttributeNode, DeclarationNode, EntryNode, NameNode, ValueNode } from '../../1-parse/syntax-nodes.ts';
import type { CheckContext, Rule } from '../check-context.ts';
import { eachDuplicate } from '../each-duplicate.ts';
import { entryValue, isConstraint, listItems, stringOf } from '../node-values.ts';
import { labelOf } from '../template-reader.ts';

const TYPE_NAMES = new Set(['String', 'Int', 'Float', 'Boolean', 'Bytes', 'BigInt', 'Json', 'BamlClient']);

/** Reserved words of the languages of generated clients, which cannot be names of fields there. */
const FIELD_NAMES = new Set(
  (
    'Self and any assert async audio await bigint bool box break catch chan class const continue debugger defer do dyn ' +
    'else enum export extends extern false finally float for function global go goto image implements import in ' +
    'instanceof int lambda let macro module move mut new nil nonlocal not null or package pdf private protected pub ' +
    'public ref return select self set static string struct super switch this throw trait true try typeof unsafe ' +
    'unsized use var video virtual void while with yield env'
  ).split(' '),
);

/** Names of types and fields are not reserved words, of definitions or of the languages of clients. */
export const reservedNames: Rule = ({ scope, report }) => {
  for (const node of scope.declarations) {
    const { text, span } = node.name;
    const isType = node.kind === 'class' || node.kind === 'enum' || node.kind === 'alias' || node.kind === 'function';
    if (isType && TYPE_NAMES.has(text)) report('check/reserved-type-name', span, { name: text });
    if (node.kind !== 'class') continue;
    for (const { name } of node.fields.filter((field) => FIELD_NAMES.has(field.name.text))) {
      report('check/reserved-field-name', name.span, { name: name.text, env: name.text === 'env' });
    }
  }
};

const ARTICLES = new Map([
  ['class', 'a class'],
  ['enum', 'an enum'],
  ['alias', 'a type'],
  ['function', 'a function'],
  ['client', 'a client'],
  ['template_string', 'a template_string'],
]);

/**
 * Types, functions, clients, template strings and enum values begin with a capital letter, which distinguishes them
 * from fields.
 */
export const capitalizedNames: Rule = (context) => {
  for (const node of context.scope.declarations) {
    const what = ARTICLES.get(node.kind);
    if (what !== undefined) checkName(context, node.name, what);
    if (node.kind === 'enum') for (const value of node.values) checkName(context, value.name, 'an enum value');
  }
};

function checkName({ report }: CheckContext, { text, span }: NameNode, what: string): void {
  if (!/^[a-z]/.test(text)) return;
  const better = text.charAt(0).toUpperCase() + text.slice(1);
  report('check/lowercase-name', span, { name: text, what, better });
}

/** Variables that every prompt can read. */
const BUILT_INS = new Set(['ctx', '_']);

/** A parameter hides no other key of the request and no built-in variable of the prompt. */
export const parameterNames: Rule = ({ scope, report }) => {
  for (const node of scope.functions.values()) {
    for (const { name } of node.parameters) {
      if (isOptionsKey(name.text)) report('check/reserved-parameter-name', name.span, { name: name.text });
      if (BUILT_INS.has(name.text)) report('check/shadowing-parameter', name.span, { name: name.text });
    }
  }
};

// --- unique names ----------------------------------------------------------------------------------------------------

const WORDS: Readonly<Record<DeclarationNode['kind'], string>> = {
  class: 'a class',
  enum: 'an enum',
  alias: 'a type',
  function: 'a function',
  workflow: 'a function',
  template_string: 'a template_string',
  client: 'a client',
  retry_policy: 'a retry policy',
  generator: 'a generator',
  test: 'a test',
};

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
        const related = [{ span: first.name.span, message: `first declared here, as ${WORDS[first.kind]}` }];
        report('check/duplicate-name', node.name.span, { name: node.name.text, what: WORDS[node.kind] }, related);
      },
    );
  }
};

type Code = 'check/duplicate-field' | 'check/duplicate-value' | 'check/duplicate-parameter';
type Member = { readonly name: NameNode };

/** Fields, enum values and parameters have different names, because other parts refer to them by name. */
export const uniqueMembers: Rule = (context) => {
  for (const node of context.scope.declarations) {
    const owner = `${node.kind} "${node.name.text}"`;
    if (node.kind === 'class') reportAll(context, 'check/duplicate-field', owner, node.fields);
    if (node.kind === 'enum') reportAll(context, 'check/duplicate-value', owner, node.values);
    if (node.kind === 'function' || node.kind === 'template_string') {
      reportAll(context, 'check/duplicate-parameter', owner, node.parameters);
    }
  }
};

function reportAll({ report }: CheckContext, code: Code, owner: string, members: readonly Member[]): void {
  eachDuplicate(
    members,
    (member) => member.name.text,
    ({ name }, first) => {
      report(code, name.span, { name: name.text, owner }, [{ span: first.name.span, message: 'the first one' }]);
    },
  );
}

/** A key appears once in a block or map: the last value applies, and any other is lost. */
export const uniqueKeys: Rule = (context) => {
  for (const node of context.scope.declarations) {
    if ('entries' in node) checkEntries(context, node.entries);
  }
};

function checkEntries(context: CheckContext, entries: readonly EntryNode[]): void {
  eachDuplicate(
    entries,
    (entry) => entry.key.text,
    ({ key }, first) => {
      context.report('check/duplicate-key', key.span, { name: key.text }, [
        { span: first.key.span, message: 'the first one' },
      ]);
    },
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

/** An attribute appears once in a place, except constraints, whose checks have different labels. */
export const uniqueAttributes: Rule = (context) => {
  for (const { attributes } of context.attributeSites) {
    const checks = attributes.filter((node) => node.name === 'check' && labelOf(node) !== undefined);
    const others = attributes.filter((node) => !isConstraint(node));
    reportRepeated(context, 'check/duplicate-attribute', others, (node) => node.name);
    reportRepeated(context, 'check/duplicate-label', checks, (node) => labelOf(node) ?? '');
  }
};

function reportRepeated(
  { report }: CheckContext,
  code: 'check/duplicate-attribute' | 'check/duplicate-label',
  nodes: readonly AttributeNode[],
  nameOf: (node: AttributeNode) => string,
): void {
  eachDuplicate(nodes, nameOf, (node, first) => {
    report(code, node.span, { name: nameOf(node) }, [{ span: first.span, message: 'the first one' }]);
  });
}
