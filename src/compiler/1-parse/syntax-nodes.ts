import type { SourceFile } from '../../diagnostics/source-file.ts';
import type { Span } from '../../diagnostics/span.ts';

/** The content of one file as written, without unreadable parts; each of those has a diagnostic. */
export interface DocumentNode {
  readonly file: SourceFile;
  readonly declarations: readonly DeclarationNode[];
  /** The `generator` and `test` blocks that have an end, readable or not, in source order. */
  readonly blocksNotServed: readonly Span[];
}

export type DeclarationNode =
  | ClassNode
  | EnumNode
  | AliasNode
  | FunctionNode
  | TemplateStringNode
  | ClientNode
  | RetryPolicyNode
  | GeneratorNode
  | TestNode
  | WorkflowNode;

export interface NameNode {
  readonly text: string;
  readonly span: Span;
}

export interface Declared {
  readonly name: NameNode;
  /** The `///` lines above. */
  readonly documentation?: string;
  /** From its first word to its closing bracket. */
  readonly span: Span;
  /** Parts of it are unreadable, so the checker must not report missing parts. */
  readonly broken?: true;
}

export interface ClassNode extends Declared {
  readonly kind: 'class';
  /** Written as `dynamic class`: extends the class of that name. */
  readonly extension?: true;
  readonly fields: readonly FieldNode[];
  readonly attributes: readonly AttributeNode[];
}

export interface FieldNode {
  readonly name: NameNode;
  /** The name is that of a property in a JSON Schema of a request: any string, also a reserved word. */
  readonly ofSchema?: true;
  /** Absent if it is unreadable, which has a diagnostic. */
  readonly type?: TypeNode;
  readonly attributes: readonly AttributeNode[];
  readonly documentation?: string;
}

export interface EnumNode extends Declared {
  readonly kind: 'enum';
  /** Written as `dynamic enum`: extends the enum of that name. */
  readonly extension?: true;
  readonly values: readonly EnumValueNode[];
  readonly attributes: readonly AttributeNode[];
}

export interface EnumValueNode {
  readonly name: NameNode;
  readonly attributes: readonly AttributeNode[];
  readonly documentation?: string;
}

/** `type Name = Type` */
export interface AliasNode extends Declared {
  readonly kind: 'alias';
  readonly type: TypeNode;
  readonly attributes: readonly AttributeNode[];
}

export interface FunctionNode extends Declared {
  readonly kind: 'function';
  readonly parameters: readonly ParameterNode[];
  readonly returns?: TypeNode;
  /** Attributes after the return type. */
  readonly returnAttributes: readonly AttributeNode[];
  readonly entries: readonly EntryNode[];
}

export interface ParameterNode {
  readonly name: NameNode;
  readonly type?: TypeNode;
  readonly attributes: readonly AttributeNode[];
}

export interface TemplateStringNode extends Declared {
  readonly kind: 'template_string';
  readonly parameters: readonly ParameterNode[];
  readonly body: RawStringNode;
}

interface Block<Kind> extends Declared {
  readonly kind: Kind;
  readonly entries: readonly EntryNode[];
}

export type ClientNode = Block<'client'>;
export type RetryPolicyNode = Block<'retry_policy'>;
export type GeneratorNode = Block<'generator'>;

export interface TestNode extends Block<'test'> {
  readonly attributes: readonly AttributeNode[];
  /** Definitions in its `type_builder`, visible only in this test. */
  readonly types: readonly DeclarationNode[];
}

/** A function or `let` whose body is code. The checker only reserves its name. */
interface WorkflowNode extends Declared {
  readonly kind: 'workflow';
}

/** `key value` in a block or a map. */
export interface EntryNode {
  readonly key: NameNode;
  /** Absent if it is unreadable, which has a diagnostic. */
  readonly value?: ValueNode;
}

export type ValueNode = { readonly span: Span } & ValueShape;

export type ValueShape =
  | { readonly kind: 'string'; readonly value: string; readonly quoted: boolean }
  | RawStringShape
  | { readonly kind: 'number'; readonly value: number; readonly text: string }
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'null' }
  | { readonly kind: 'env'; readonly variable: string }
  | { readonly kind: 'list'; readonly items: readonly ValueNode[] }
  /** `broken`: a part of it is unreadable, and can be missing from `entries`. */
  | { readonly kind: 'map'; readonly entries: readonly EntryNode[]; readonly broken?: true }
  | ExpressionShape
  /** An unreadable value, which has a diagnostic. Compatible with everything. `text`: the value as written, if it needs quotes. */
  | { readonly kind: 'broken'; readonly text?: string };

interface RawStringShape {
  readonly kind: 'raw-string';
  /** The text between the delimiters, as written. */
  readonly raw: string;
  /** Offset of `raw` in the file. */
  readonly contentStart: number;
}

/** `{{ … }}` */
interface ExpressionShape {
  readonly kind: 'expression';
  /** The text between the braces, as written. */
  readonly source: string;
  readonly contentStart: number;
}

export type RawStringNode = { readonly span: Span } & RawStringShape;
export type ExpressionNode = { readonly span: Span } & ExpressionShape;

export interface AttributeNode {
  /** Without the at signs: `alias`, `stream.done`. */
  readonly name: string;
  /** True for two at signs: the attribute belongs to the block. */
  readonly block: boolean;
  readonly arguments: readonly ValueNode[];
  readonly span: Span;
}

export type TypeNode = { readonly span: Span; readonly attributes: readonly AttributeNode[] } & TypeNodeShape;

export type TypeNodeShape =
  /** A primitive, a media type or the name of a definition. */
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'literal'; readonly value: string | number | boolean }
  | { readonly kind: 'list'; readonly element: TypeNode }
  | { readonly kind: 'optional'; readonly type: TypeNode }
  | { readonly kind: 'map'; readonly key: TypeNode; readonly value: TypeNode }
  | { readonly kind: 'union'; readonly members: readonly TypeNode[] }
  | { readonly kind: 'tuple'; readonly members: readonly TypeNode[] }
  /** Unreadable, which has a diagnostic. Compatible with everything. */
  | { readonly kind: 'broken' };

/** The keys of the blocks that have keys, by the word that begins the block. */
export const KNOWN_KEYS: Readonly<Partial<Record<DeclarationNode['kind'], readonly string[]>>> = {
  function: ['client', 'prompt'],
  client: ['provider', 'retry_policy', 'options'],
  retry_policy: ['max_retries', 'strategy', 'statuses', 'on_invalid_reply', 'options'],
  generator: [
    'output_type',
    'output_dir',
    'version',
    'default_client_mode',
    'on_generate',
    'module_format',
    'client_package_name',
    'project',
  ],
  test: ['functions', 'args', 'type_builder'],
};
