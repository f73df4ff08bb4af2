import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { isJsonObject, type JsonObject, type JsonValue, ownValue } from '../../base/json.ts';
import { typeText } from '../../schema/type-graph.ts';
import type { Type, UnionType } from '../../schema/type.ts';
import { initialValue, memberOf, withMember } from '../data/argument-values.ts';
import { childPath } from '../data/diff-values.ts';
import { presentMembers, targetOf } from '../data/types.ts';
import { Icon } from '../widgets/icon.tsx';
import { FieldError } from './field-error.tsx';
import { type FieldProps, inputId, useForm } from './form-context.ts';

type OfKind<Kind extends Type['kind']> = FieldProps<Extract<Type, { readonly kind: Kind }>>;

function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** The fields of a class. */
export function ClassInputs({ type, value, onChange, path }: OfKind<'class'>): VNode {
  const { Field, types } = useForm();
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
          value={ownValue(object, field.name) as JsonValue | undefined}
          onChange={(next) => onChange(withMember(object, field.name, next))}
        />
      ))}
    </div>
  );
}

/** The items of a list, which the user can add, remove and move. */
export function ListItems({ type, value, onChange, path }: OfKind<'list'>): VNode {
  const { Field, types } = useForm();
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
            <button
              type="button"
              class="icon-button move"
              aria-label={`Move ${path}[${at}] up`}
              onClick={() => onChange(items.with(at, items[at - 1] ?? null).with(at - 1, item))}
            >
              <Icon name="up" />
            </button>
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

/** The entries of a map: a key and a value each. */
export function MapEntries({ type, value, onChange, path }: OfKind<'map'>): VNode {
  const { Value, types } = useForm();
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
            <button
              type="button"
              class="icon-button"
              aria-label={`Remove ${childPath(path, key)}`}
              onClick={() => onChange(withMember(object, key, undefined))}
            >
              <Icon name="close" />
            </button>
          </div>
          <label class="visually-hidden" for={inputId(childPath(path, key))}>
            Value of {childPath(path, key)}
          </label>
          <Value
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
      <select
        class="input select-input"
        aria-label={label}
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
      >
        {choices.map((choice) => (
          <option key={choice} value={choice} disabled={choice !== value && taken(choice)}>
            {choice}
          </option>
        ))}
      </select>
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
function possibleKeys(key: Type, types: ReturnType<typeof useForm>['types']): readonly string[] | undefined {
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
export function UnionValue({ type, value, onChange, path }: FieldProps<UnionType>): VNode {
  const { Value, types } = useForm();
  const members = presentMembers(type);
  const [only] = members;
  if (members.length === 1 && only !== undefined) {
    return <Value type={only} value={value} onChange={onChange} path={path} />;
  }
  const at = value === undefined ? -1 : memberOf(members, value, types);
  const member = members[at];
  // The selected literal is the value itself.
  const isChoice = members.every(({ kind }) => kind === 'literal');
  const select = (index: number): void => {
    const next = members[index];
    if (next !== undefined) onChange(kept(value, next) ?? initialValue(next, types));
  };
  return (
    <div class="stack-tight">
      <select
        class="input select-input union-select"
        {...(isChoice ? { id: inputId(path) } : { 'aria-label': `Type of ${path}` })}
        value={String(at)}
        onChange={(event) => select(Number(event.currentTarget.value))}
      >
        {at < 0 ? <option value="-1">Select</option> : null}
        {members.map((each, index) => (
          <option key={index} value={String(index)}>
            {typeText(each)}
          </option>
        ))}
      </select>
      {member === undefined || isChoice ? null : <Value type={member} value={value} onChange={onChange} path={path} />}
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
