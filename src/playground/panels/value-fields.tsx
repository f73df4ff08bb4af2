import { createContext, type VNode } from 'preact';
import { useContext, useState, useEffect, useRef } from 'preact/hooks';
import { type JsonValue, isJsonObject, type JsonObject, ownValue } from '../../base/json.ts';
import type { Type, UnionType, MediaKind } from '../../schema/type.ts';
import {
  type Types,
  isOptional,
  targetOf,
  presentMembers,
  initialValue,
  unionMemberOf,
  withMember,
  childPath,
} from '../data/argument-values.ts';
import { typeText } from '../../schema/type-graph.ts';
import { Icon, IconButton, Segmented, Select } from '../widgets/controls.tsx';
import { MediaPreview } from '../widgets/messages.tsx';

/** The properties of the field of a value, whatever its type. */
interface FieldProps<Shape extends Type = Type> {
  readonly type: Shape;
  /** Undefined if it is absent. */
  readonly value: JsonValue | undefined;
  /** Undefined removes the value. */
  readonly onChange: (value: JsonValue | undefined) => void;
  /** The path of the value in the arguments, in the form in which the server names it. */
  readonly path: string;
}

type OfKind<Kind extends Type['kind']> = FieldProps<Extract<Type, { readonly kind: Kind }>>;

interface LabelledProps extends FieldProps {
  readonly label: string;
  readonly description?: string | undefined;
  /** Removes the value from the list or map that contains it. */
  readonly onRemove?: () => void;
}

interface Form {
  readonly types: Types;
  /** What the server reports about values, by path. */
  readonly errors: ReadonlyMap<string, string>;
}

export const FormContext = createContext<Form | undefined>(undefined);

function useForm(): Form {
  const form = useContext(FormContext);
  if (form === undefined) throw new Error('a field outside of a form');
  return form;
}

/** The id of the input at a path, to which its label refers. */
function inputId(path: string): string {
  return `field-${path}`;
}

function errorId(path: string): string {
  return `error-${path}`;
}

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
          <IconButton icon="close" label={`Remove ${path}`} onClick={onRemove ?? (() => onChange(undefined))} />
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

function ValueInput(props: FieldProps): VNode | null {
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

function FieldError({ path }: { readonly path: string }): VNode | null {
  const error = useForm().errors.get(path);
  if (error === undefined) return null;
  return (
    <p class="error" id={errorId(path)}>
      {error}
    </p>
  );
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function ClassInputs({ type, value, onChange, path }: OfKind<'class'>): VNode {
  const { types } = useForm();
  const object = objectOf(value);
  return (
    <div class="group">
      {(types.classes.get(type.name)?.fields ?? []).map((field) => (
        <Field
          key={field.name}
          label={field.name}
          type={field.type}
          description={field.description}
          path={childPath(path, field.name)}
          value={ownValue(object, field.name)}
          onChange={(next) => onChange(withMember(object, field.name, next))}
        />
      ))}
    </div>
  );
}

/** The items of a list, which the user can add, remove and move. */
function ListItems({ type, value, onChange, path }: OfKind<'list'>): VNode {
  const { types } = useForm();
  const items: readonly JsonValue[] = Array.isArray(value) ? value : [];
  const without = (at: number): readonly JsonValue[] => items.filter((_, index) => index !== at);
  return (
    <div class="group">
      {items.map((item, at) => (
        <div class="item" key={at}>
          <Field
            label={`[${at}]`}
            type={type.element}
            path={childPath(path, at)}
            value={item}
            onChange={(next) => onChange(next === undefined ? without(at) : items.with(at, next))}
            onRemove={() => onChange(without(at))}
          />
          {at === 0 ? null : (
            <IconButton
              icon="up"
              class="move"
              label={`Move ${path}[${at}] up`}
              onClick={() => onChange(items.with(at, items[at - 1] ?? null).with(at - 1, item))}
            />
          )}
        </div>
      ))}
      <button
        type="button"
        class="button small add"
        onClick={() => onChange([...items, initialValue(type.element, types)])}
      >
        <Icon name="plus" /> Add {typeText(type.element)}
      </button>
    </div>
  );
}

function MapEntries({ type, value, onChange, path }: OfKind<'map'>): VNode {
  const { types } = useForm();
  const object = objectOf(value);
  const entries = Object.entries(object);
  const keys = possibleKeys(type.key, types);
  const free = keys?.find((key) => !Object.hasOwn(object, key));
  const add = (): void => onChange({ ...object, [free ?? freshKey(object)]: initialValue(type.value, types) });
  const rename = (at: number, key: string): void =>
    onChange(Object.fromEntries(entries.map(([name, each], index) => [index === at ? key : name, each])));
  return (
    <div class="group">
      {entries.map(([key, entry], at) => (
        <div class="entry" key={at}>
          <div class="entry-head">
            <MapKey
              value={key}
              choices={keys}
              taken={(name) => Object.hasOwn(object, name)}
              label={`Key ${at + 1} of ${path}`}
              onChange={(name) => rename(at, name)}
            />
            <IconButton
              icon="close"
              label={`Remove ${childPath(path, key)}`}
              onClick={() => onChange(withMember(object, key, undefined))}
            />
          </div>
          <label class="visually-hidden" for={inputId(childPath(path, key))}>
            Value of {childPath(path, key)}
          </label>
          <ValueInput
            type={type.value}
            path={childPath(path, key)}
            value={entry}
            onChange={(next) => onChange(withMember(object, key, next ?? null))}
          />
          <FieldError path={childPath(path, key)} />
        </div>
      ))}
      {keys !== undefined && free === undefined ? null : (
        <button type="button" class="button small add" onClick={add}>
          <Icon name="plus" /> Add entry
        </button>
      )}
    </div>
  );
}

interface MapKeyProps {
  readonly value: string;
  /** The keys that the type allows; undefined for any. */
  readonly choices: readonly string[] | undefined;
  readonly taken: (key: string) => boolean;
  readonly label: string;
  readonly onChange: (key: string) => void;
}

/** A key that another entry has already is not applied: the entry would replace the other one. */
function MapKey({ value, choices, taken, label, onChange }: MapKeyProps): VNode {
  const [draft, setDraft] = useState<string>();
  if (choices !== undefined) {
    return (
      <Select
        aria-label={label}
        value={value}
        options={choices.map((choice) => [choice, choice])}
        isDisabled={(choice) => choice !== value && taken(choice)}
        onChange={onChange}
      />
    );
  }
  const isTaken = draft !== undefined && draft !== value && taken(draft);
  return (
    <span class="stack-tight grow">
      <input
        class="input key-input"
        aria-label={label}
        aria-invalid={isTaken}
        autocomplete="off"
        value={draft ?? value}
        onInput={(event) => {
          const key = event.currentTarget.value;
          const applies = key === value || !taken(key);
          setDraft(applies ? undefined : key);
          if (applies) onChange(key);
        }}
        onBlur={() => setDraft(undefined)}
      />
      {isTaken ? <span class="error">Another entry has this key.</span> : null}
    </span>
  );
}

/** The keys of an enum or of literals; undefined for a type with any number of values. */
function possibleKeys(key: Type, types: Types): readonly string[] | undefined {
  const target = targetOf(key, types);
  if (target.kind === 'enum') return types.enums.get(target.name)?.values.map(({ name }) => name);
  if (target.kind === 'literal') return [String(target.value)];
  if (target.kind !== 'union') return undefined;
  const lists = target.members.map((member) => possibleKeys(member, types));
  return lists.every((list) => list !== undefined) ? lists.flat() : undefined;
}

function freshKey(object: JsonObject): string {
  let number = Object.keys(object).length + 1;
  while (Object.hasOwn(object, `key${number}`)) number += 1;
  return `key${number}`;
}

/** A value of one of several types, which the user selects. */
function UnionValue({ type, value, onChange, path }: FieldProps<UnionType>): VNode {
  const { types } = useForm();
  const members = presentMembers(type);
  const [only] = members;
  if (members.length === 1 && only !== undefined) {
    return <ValueInput type={only} value={value} onChange={onChange} path={path} />;
  }
  const at = value === undefined ? -1 : unionMemberOf(members, value, types);
  const member = members[at];
  // The selected literal is the value itself.
  const isChoice = members.every(({ kind }) => kind === 'literal');
  const select = (index: number): void => {
    const next = members[index];
    if (next !== undefined) onChange(kept(value, next) ?? initialValue(next, types));
  };
  return (
    <div class="stack-tight">
      <Select
        class="union-select"
        {...(isChoice ? { id: inputId(path) } : { 'aria-label': `Type of ${path}` })}
        value={String(at)}
        options={[
          ...(at < 0 ? [['-1', 'Select'] as const] : []),
          ...members.map((each, index) => [String(index), typeText(each)] as const),
        ]}
        onChange={(index) => select(Number(index))}
      />
      {member === undefined || isChoice ? null : (
        <ValueInput type={member} value={value} onChange={onChange} path={path} />
      )}
    </div>
  );
}

/** Keeps what the user typed when the type changes between a string and a number. */
function kept(value: JsonValue | undefined, next: Type): JsonValue | undefined {
  if (next.kind === 'string' && typeof value === 'number') return String(value);
  if ((next.kind !== 'int' && next.kind !== 'float') || typeof value !== 'string' || value.trim() === '')
    return undefined;
  const number = Number(value);
  return Number.isFinite(number) && (next.kind === 'float' || Number.isInteger(number)) ? number : undefined;
}

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
function StringInput({ value, onChange, path }: FieldProps): VNode {
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
function NumberInput({ type, value, onChange, path }: FieldProps): VNode {
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

function numberOf(text: string): number | string {
  const number = Number(text);
  return text.trim() === '' || !Number.isFinite(number) ? text : number;
}

function BoolInput({ value, onChange, path }: FieldProps): VNode {
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

function EnumInput({ type, value, onChange, path }: OfKind<'enum'>): VNode {
  const { types } = useForm();
  const values = types.enums.get(type.name)?.values ?? [];
  const shown = typeof value === 'string' ? value : JSON.stringify(value);
  const known = values.find(({ name }) => name === value);
  return (
    <div class="stack-tight">
      <Select
        {...useLinks(path)}
        value={shown}
        options={[...(known === undefined ? [shown] : []), ...values.map(({ name }) => name)].map((name) => [
          name,
          name,
        ])}
        onChange={onChange}
      />
      {known?.description === undefined ? null : <p class="hint">{known.description}</p>}
    </div>
  );
}

/** A literal has only one value, which its label shows as its type: there is nothing to enter, unless it has another value. */
function LiteralValue({ type, value, onChange, path }: OfKind<'literal'>): VNode | null {
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

const ACCEPTED: Readonly<Record<MediaKind, string>> = {
  image: 'image/*',
  audio: 'audio/*',
  pdf: 'application/pdf,.pdf',
  video: 'video/*',
};

/** A body of 10 MiB has room for a file of this size as base64. */
const LARGEST_FILE = 7 * 2 ** 20;

function MediaInput({ type, value, onChange, path }: OfKind<'media'>): VNode {
  const { errors } = useForm();
  const source = isJsonObject(value) ? value : {};
  const data = stringOf(source['base64']);
  const isFile = data !== undefined;
  const [byFile, setByFile] = useState(isFile);
  const [fault, setFault] = useState('');
  const take = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return;
    const large = file.size > LARGEST_FILE;
    setFault(large ? `The file has ${size(file.size)}; svc accepts at most ${size(LARGEST_FILE)} by default.` : '');
    if (!large) onChange(await content(file));
  };
  return (
    <div class="stack-tight media-input">
      <Segmented
        label={`Source of ${path}`}
        options={[
          ['url', 'URL'],
          ['file', 'File'],
        ]}
        value={byFile || isFile ? 'file' : 'url'}
        onChange={(next) => {
          setByFile(next === 'file');
          if (next === 'url') onChange({ url: '' });
        }}
      />
      {byFile || isFile ? (
        <input
          id={inputId(path)}
          class="input file-input"
          type="file"
          accept={ACCEPTED[type.media]}
          onChange={(event) => void take(event.currentTarget.files?.[0])}
        />
      ) : (
        <input
          id={inputId(path)}
          class="input"
          type="url"
          placeholder={`https://example.com/${type.media}`}
          aria-invalid={errors.has(path)}
          value={stringOf(source['url']) ?? ''}
          onInput={(event) => onChange({ url: event.currentTarget.value })}
        />
      )}
      {fault === '' ? null : <p class="error">{fault}</p>}
      {data === undefined ? null : (
        <MediaPreview media={type.media} data={data} mediaType={stringOf(source['media_type'])} />
      )}
    </div>
  );
}

function stringOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** A data URL is the type of the file, then its content as base64. */
function content(file: File): Promise<JsonObject> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('load', () => {
      const [, base64 = ''] = (typeof reader.result === 'string' ? reader.result : '').split(',', 2);
      resolve(file.type === '' ? { base64 } : { base64, media_type: file.type });
    });
    reader.addEventListener('error', () => reject(reader.error ?? new Error('the file cannot be read')));
    reader.readAsDataURL(file);
  });
}

/** `7 MB`, `12 KB`. */
function size(bytes: number): string {
  return bytes < 2 ** 20 ? `${Math.ceil(bytes / 1024)} KB` : `${(bytes / 2 ** 20).toFixed(1)} MB`;
}
