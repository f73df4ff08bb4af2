import { useEffect, useRef, useState } from 'preact/hooks';
import type { VNode } from 'preact';
import type { Type } from '../../schema/type.ts';
import { errorId, inputId, useForm, type FieldProps } from './form-context.ts';

type OfKind<Kind extends Type['kind']> = FieldProps<Extract<Type, { readonly kind: Kind }>>;

/** The attributes that connect an input with its label and its error. */
function useLinks(path: string): {
  readonly id: string;
  readonly 'aria-invalid'?: true;
  readonly 'aria-describedby'?: string;
} {
  const { errors } = useForm();
  if (!errors.has(path)) return { id: inputId(path) };
  return { id: inputId(path), 'aria-invalid': true, 'aria-describedby': errorId(path) };
}

/** A text area that is as high as its text. */
export function StringInput({ value, onChange, path }: FieldProps): VNode {
  const area = useRef<HTMLTextAreaElement>(null);
  const text = typeof value === 'string' ? value : JSON.stringify(value ?? '');
  useEffect(() => {
    const { current } = area;
    if (current === null) return;
    current.style.height = 'auto';
    current.style.height = `${current.scrollHeight + 2}px`;
  }, [text]);
  return (
    <textarea
      {...useLinks(path)}
      ref={area}
      class="input text-input"
      rows={1}
      spellcheck={false}
      value={text}
      onInput={(event) => onChange(event.currentTarget.value)}
    />
  );
}

/** Keeps what the user types while it is not a number, such as `-` or `1.`; the server then reports the string. */
export function NumberInput({ type, value, onChange, path }: FieldProps): VNode {
  const shown = typeof value === 'number' || typeof value === 'string' ? String(value) : '';
  const [text, setText] = useState(shown);
  useEffect(() => {
    setText((before) => (numberOf(before) === value ? before : shown));
  }, [shown, value]);
  return (
    <input
      {...useLinks(path)}
      class="input number-input"
      inputMode={type.kind === 'int' ? 'numeric' : 'decimal'}
      autocomplete="off"
      value={text}
      onInput={(event) => {
        setText(event.currentTarget.value);
        onChange(numberOf(event.currentTarget.value));
      }}
    />
  );
}

/** The number that a text is, or else the text. */
function numberOf(text: string): number | string {
  const number = Number(text);
  return text.trim() === '' || !Number.isFinite(number) ? text : number;
}

export function BoolInput({ value, onChange, path }: FieldProps): VNode {
  return (
    <label class="switch">
      <input
        {...useLinks(path)}
        type="checkbox"
        role="switch"
        checked={value === true}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <span>{String(value === true)}</span>
    </label>
  );
}

export function EnumInput({ type, value, onChange, path }: OfKind<'enum'>): VNode {
  const { types } = useForm();
  const values = types.enums.get(type.name)?.values ?? [];
  const shown = typeof value === 'string' ? value : JSON.stringify(value);
  const isKnown = values.some(({ name }) => name === value);
  const description = values.find(({ name }) => name === value)?.description;
  return (
    <div class="stack-tight">
      <select
        {...useLinks(path)}
        class="input select-input"
        value={shown}
        onChange={(event) => onChange(event.currentTarget.value)}
      >
        {isKnown ? null : <option value={shown}>{shown}</option>}
        {values.map(({ name }) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
      {description === undefined ? null : <p class="hint">{description}</p>}
    </div>
  );
}

/** A literal has only one value, which its label shows as its type: there is nothing to enter, unless it has another value. */
export function LiteralValue({ type, value, onChange, path }: OfKind<'literal'>): VNode | null {
  if (value === type.value) return null;
  return (
    <div class="row">
      <code class="literal">{JSON.stringify(value)}</code>
      <button id={inputId(path)} type="button" class="button small" onClick={() => onChange(type.value)}>
        Set to {JSON.stringify(type.value)}
      </button>
    </div>
  );
}
