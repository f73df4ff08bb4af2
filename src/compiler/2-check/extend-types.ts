import type { Span } from '../../diagnostics/span.ts';
import type { ClassNode, DeclarationNode, DocumentNode, EnumNode, TestNode } from '../1-parse/syntax-nodes.ts';

/** Returns the definitions as one test sees them. `test`: the name of the test in its declaration. */
export function extendForTest(documents: readonly DocumentNode[], test: Span): readonly DocumentNode[] {
  const node = documents.flatMap(({ declarations }) => declarations).find((each) => isTest(each, test));
  return extendTypes(documents, node?.kind === 'test' ? node.types : [], test.file);
}

/**
 * Returns the definitions with the types of a `type_builder`, and with the fields and values that it adds to classes and
 * enums. `file`: the path of the document that gets the new types. The result contains no tests.
 */
export function extendTypes(
  documents: readonly DocumentNode[],
  types: readonly DeclarationNode[],
  file: string,
): readonly DocumentNode[] {
  const extensions = new Map(types.map((type) => [type.name.text, type]));
  const known = new Set<string>();
  const extended = documents.map((document) => {
    const declarations = document.declarations.filter(({ kind }) => kind !== 'test');
    return {
      ...document,
      declarations: declarations.map((declaration) => {
        const extension = extensions.get(declaration.name.text);
        if (extension === undefined || extension.kind !== declaration.kind) return declaration;
        known.add(declaration.name.text);
        return extendedBy(declaration, extension);
      }),
      // A mistake in this test is an error here.
      blocksNotServed: [],
    };
  });
  const added = types.filter(({ name }) => !known.has(name.text));
  return extended.map((document) =>
    document.file.path === file ? { ...document, declarations: [...document.declarations, ...added] } : document,
  );
}

function isTest(node: DeclarationNode, { file, start }: Span): node is TestNode {
  return node.kind === 'test' && node.name.span.file === file && node.name.span.start === start;
}

function extendedBy(declaration: DeclarationNode, extension: DeclarationNode): DeclarationNode {
  if (declaration.kind === 'class' && extension.kind === 'class') return extendedClass(declaration, extension);
  return declaration.kind === 'enum' && extension.kind === 'enum' ? extendedEnum(declaration, extension) : declaration;
}

function extendedClass(node: ClassNode, extension: ClassNode): ClassNode {
  return {
    ...node,
    fields: [...node.fields, ...extension.fields],
    attributes: [...node.attributes, ...extension.attributes],
  };
}

function extendedEnum(node: EnumNode, extension: EnumNode): EnumNode {
  return {
    ...node,
    values: [...node.values, ...extension.values],
    attributes: [...node.attributes, ...extension.attributes],
  };
}
