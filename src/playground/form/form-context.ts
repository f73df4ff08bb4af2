import { createContext, type ComponentType } from 'preact';
import { useContext } from 'preact/hooks';
import type { JsonValue } from '../../base/json.ts';
import type { Type } from '../../schema/type.ts';
import type { Types } from '../data/types.ts';

/** The properties of the field of a value, whatever its type. */
export interface FieldProps<Shape extends Type = Type> {
  readonly type: Shape;
  /** Undefined if it is absent. */
  readonly value: JsonValue | undefined;
  /** Undefined removes the value. */
  readonly onChange: (value: JsonValue | undefined) => void;
  /** The path of the value in the arguments, in the form in which the server names it. */
  readonly path: string;
}

/** The properties of a field with its name. */
export interface LabelledProps extends FieldProps {
  readonly label: string;
  readonly description?: string | undefined;
  /** Removes the value from the list or map that contains it. */
  readonly onRemove?: () => void;
}

interface Form {
  readonly types: Types;
  /** What the server reports about values, by path. */
  readonly errors: ReadonlyMap<string, string>;
  /** A field with its label, for the fields inside a value. Part of the context because fields contain fields. */
  readonly Field: ComponentType<LabelledProps>;
  /** A field of a type without a label. */
  readonly Value: ComponentType<FieldProps>;
}

export const FormContext = createContext<Form | undefined>(undefined);

export function useForm(): Form {
  const form = useContext(FormContext);
  if (form === undefined) throw new Error('a field outside of a form');
  return form;
}

/** The id of the input at a path, to which its label refers. */
export function inputId(path: string): string {
  return `field-${path}`;
}

/** The id of the error at a path. */
export function errorId(path: string): string {
  return `error-${path}`;
}
