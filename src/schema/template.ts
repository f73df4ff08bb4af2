/**
 * A parsed template: plain data, which the compiler makes and `runtime/prompt` turns into closures.
 * `start` and `end` are UTF-16 offsets in the definition file (not in the dedented text), so that a
 * failure can state line and column; `Program.files` has the line starts.
 */
export interface Template {
  /** Path of the definition file, a key of `Program.files`. */
  readonly file: string;
  readonly body: readonly Statement[];
}

interface Located {
  readonly start: number;
  readonly end: number;
}

export type Statement = Located & StatementShape;

export type StatementShape =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'print'; readonly expression: Expression }
  | { readonly kind: 'if'; readonly branches: readonly IfBranch[]; readonly otherwise: readonly Statement[] }
  | {
      readonly kind: 'for';
      readonly target: AssignmentTarget;
      readonly iterable: Expression;
      readonly filter?: Expression;
      readonly recursive: boolean;
      readonly body: readonly Statement[];
      readonly otherwise: readonly Statement[];
    }
  | { readonly kind: 'set'; readonly target: AssignmentTarget; readonly value: Expression }
  | {
      readonly kind: 'set-block';
      readonly target: AssignmentTarget;
      readonly filters: readonly FilterCall[];
      readonly body: readonly Statement[];
    }
  | { readonly kind: 'with'; readonly bindings: readonly WithBinding[]; readonly body: readonly Statement[] }
  | { readonly kind: 'filter-block'; readonly filters: readonly FilterCall[]; readonly body: readonly Statement[] }
  | { readonly kind: 'macro'; readonly macro: Macro }
  | { readonly kind: 'call-block'; readonly call: Expression; readonly macro: Macro };

export interface IfBranch {
  readonly condition: Expression;
  readonly body: readonly Statement[];
}

export interface WithBinding {
  readonly target: AssignmentTarget;
  readonly value: Expression;
}

/** A name, a list of names to unpack into, or an attribute of a namespace (`ns.x`). */
export type AssignmentTarget = Located &
  (
    | { readonly kind: 'name'; readonly name: string }
    | { readonly kind: 'names'; readonly items: readonly AssignmentTarget[] }
    | { readonly kind: 'namespace'; readonly name: string; readonly attribute: string }
  );

/** A `{% macro %}`, or a template_string, whose `Template` states its file. */
export interface Macro {
  readonly name: string;
  readonly parameters: readonly MacroParameter[];
  readonly body: readonly Statement[];
}

export interface MacroParameter {
  readonly name: string;
  readonly fallback?: Expression;
}

export interface FilterCall extends Located {
  readonly name: string;
  readonly args: Arguments;
}

export interface Arguments {
  readonly positional: readonly Expression[];
  readonly named: readonly { readonly name: string; readonly value: Expression }[];
}

export type Expression = Located & ExpressionShape;

export type UnaryOperator = 'not' | '-' | '+';
export type BinaryOperator =
  | '+'
  | '-'
  | '*'
  | '/'
  | '//'
  | '%'
  | '**'
  | '~'
  | 'and'
  | 'or'
  | 'in'
  | 'not in'
  | ComparisonOperator;
export type ComparisonOperator = '==' | '!=' | '<' | '<=' | '>' | '>=';

export type ExpressionShape =
  | { readonly kind: 'string'; readonly value: string }
  /** Integers and floats print differently (`1`, `1.0`), so they are two kinds. */
  | { readonly kind: 'integer'; readonly value: number }
  | { readonly kind: 'float'; readonly value: number }
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'none' }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'list'; readonly items: readonly Expression[] }
  | { readonly kind: 'map'; readonly entries: readonly { readonly key: Expression; readonly value: Expression }[] }
  | { readonly kind: 'unary'; readonly operator: UnaryOperator; readonly operand: Expression }
  | {
      readonly kind: 'binary';
      readonly operator: BinaryOperator;
      readonly left: Expression;
      readonly right: Expression;
    }
  | {
      readonly kind: 'conditional';
      readonly condition: Expression;
      readonly value: Expression;
      readonly otherwise?: Expression;
    }
  | { readonly kind: 'attribute'; readonly object: Expression; readonly name: string }
  | { readonly kind: 'index'; readonly object: Expression; readonly index: Expression }
  | {
      readonly kind: 'slice';
      readonly object: Expression;
      readonly from?: Expression;
      readonly to?: Expression;
      readonly step?: Expression;
    }
  | { readonly kind: 'call'; readonly callee: Expression; readonly args: Arguments }
  | { readonly kind: 'filter'; readonly input: Expression; readonly filter: FilterCall }
  | {
      readonly kind: 'test';
      readonly input: Expression;
      readonly name: string;
      readonly negated: boolean;
      readonly args: Arguments;
    };
