import type { VNode } from 'preact';
import type { Type } from '../../schema/type.ts';
import { typeText } from '../../schema/type-graph.ts';
import { initialValue } from '../data/argument-values.ts';
import { isOptional, targetOf } from '../data/types.ts';
import { Icon } from '../widgets/icon.tsx';
import { ClassInputs, ListItems, MapEntries, UnionValue } from './containers.tsx';
import { FieldError } from './field-error.tsx';
import { inputId, useForm, type FieldProps, type LabelledProps } from './form-context.ts';
import { MediaInput } from './media-input.tsx';
import { BoolInput, EnumInput, LiteralValue, NumberInput, StringInput } from './scalar-inputs.tsx';

/** A field with its name, its type, its description, and what the server reports about it. */
export function Field(props: LabelledProps): VNode {
  const { label, description, type, value, path, onChange, onRemove } = props;
  const { types } = useForm();
  const isAbsent = value === undefined || (value === null && isOptional(type, types));
  const canRemove = onRemove !== undefined || (!isAbsent && isOptional(type, types));
  return (
    <div
      class="field"
      role={isContainer(type) ? 'group' : undefined}
      aria-label={isContainer(type) ? label : undefined}
    >
      <div class="field-head">
        <label class="field-name" for={inputId(path)}>
          {label}
        </label>
        <code class="field-type">{typeText(type)}</code>
        <span class="grow" />
        {isAbsent && onRemove === undefined ? (
          <button
            type="button"
            class="button small"
            aria-label={`Add ${path}`}
            onClick={() => onChange(initialValue(type, types))}
          >
            <Icon name="plus" /> Add
          </button>
        ) : null}
        {canRemove ? (
          <button
            type="button"
            class="icon-button"
            aria-label={`Remove ${path}`}
            onClick={() => (onRemove ?? (() => onChange(undefined)))()}
          >
            <Icon name="close" />
          </button>
        ) : null}
      </div>
      {description === undefined ? null : <p class="hint">{description}</p>}
      {isAbsent ? null : <ValueInput type={type} value={value} path={path} onChange={onChange} />}
      <FieldError path={path} />
    </div>
  );
}

function isContainer({ kind }: Type): boolean {
  return kind === 'class' || kind === 'list' || kind === 'map' || kind === 'union' || kind === 'alias';
}

/** The input of a value. */
export function ValueInput(props: FieldProps): VNode | null {
  const { types } = useForm();
  const type = targetOf(props.type, types);
  switch (type.kind) {
    case 'string':
      return <StringInput {...props} />;
    case 'int':
    case 'float':
      return <NumberInput {...props} type={type} />;
    case 'bool':
      return <BoolInput {...props} />;
    case 'enum':
      return <EnumInput {...props} type={type} />;
    case 'literal':
      return <LiteralValue {...props} type={type} />;
    case 'media':
      return <MediaInput {...props} type={type} />;
    case 'class':
      return <ClassInputs {...props} type={type} />;
    case 'list':
      return <ListItems {...props} type={type} />;
    case 'map':
      return <MapEntries {...props} type={type} />;
    case 'union':
      return <UnionValue {...props} type={type} />;
    case 'null':
    case 'alias':
      return <code class="literal">null</code>;
  }
}
