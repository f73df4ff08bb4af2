import type { VNode } from 'preact';
import type { JsonValue } from '../../base/json.ts';
import type { Type } from '../../schema/type.ts';
import { typeText } from '../../schema/type-text.ts';
import { initialValue, memberOf } from '../data/argument-values.ts';
import type { UnionType } from '../../schema/type.ts';
import { presentMembers } from '../data/types.ts';
import { inputId, useForm, type FieldProps } from './form-context.ts';

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
