import type { ComponentChildren, VNode } from 'preact';
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { childPath } from '../data/argument-values.ts';
import { Icon } from './controls.tsx';

interface ValueViewProps {
  readonly value: JsonValue;
  /** The paths at which the value differs from another one. */
  readonly differing?: ReadonlySet<string>;
}

/** A value as indented JSON, with the outcomes of checks as chips beside the values that they belong to. */
export function ValueView({ value, differing = NONE }: ValueViewProps): VNode {
  return (
    <div class="value-view">
      <Node value={value} path="" differing={differing} />
    </div>
  );
}

const NONE: ReadonlySet<string> = new Set();

interface NodeProps {
  readonly value: JsonValue;
  readonly path: string;
  readonly differing: ReadonlySet<string>;
  /** The key before the value, and the comma after it. */
  readonly before?: ComponentChildren;
  readonly after?: string;
  /** What wrappers report about the value. */
  readonly marks?: ComponentChildren;
}

function Node(props: NodeProps): VNode {
  const { value, path } = props;
  const wrapped = wrapperOf(value);
  if (wrapped !== undefined) {
    const marks = (
      <>
        {props.marks}
        {wrapped.chips}
      </>
    );
    return <Node {...props} value={wrapped.value} marks={marks} path={childPath(path, 'value')} />;
  }
  if (Array.isArray(value)) return <Container {...props} open="[" close="]" members={itemsOf(value)} />;
  if (isJsonObject(value)) {
    return <Container {...props} open="{" close="}" members={Object.entries(value)} />;
  }
  const differs = props.differing.has(path);
  return (
    <div class={differs ? 'line differs' : 'line'}>
      {props.before}
      <span class={`scalar ${scalarKind(value)}`}>{JSON.stringify(value)}</span>
      {props.after}
      {props.marks}
    </div>
  );
}

interface ContainerProps extends NodeProps {
  readonly open: string;
  readonly close: string;
  /** The names of the items of a list are empty. */
  readonly members: ReadonlyArray<readonly [name: string, value: JsonValue]>;
}

function Container({ open, close, members, path, differing, before, after = '', marks }: ContainerProps): VNode {
  const isList = open === '[';
  const line = differing.has(path) ? 'line differs' : 'line';
  if (members.length === 0) {
    return (
      <div class={line}>
        {before}
        {open}
        {close}
        {after}
        {marks}
      </div>
    );
  }
  return (
    <>
      <div class={line}>
        {before}
        {open}
        {marks}
      </div>
      <div class="nested">
        {members.map(([name, member], at) => (
          <Node
            key={isList ? at : name}
            value={member}
            path={childPath(path, isList ? at : name)}
            differing={differing}
            before={isList ? null : <Key name={name} />}
            after={at < members.length - 1 ? ',' : ''}
          />
        ))}
      </div>
      <div class="line">
        {close}
        {after}
      </div>
    </>
  );
}

function itemsOf(list: readonly JsonValue[]): ReadonlyArray<readonly [string, JsonValue]> {
  return list.map((item) => ['', item]);
}

function Key({ name }: { readonly name: string }): VNode {
  return (
    <>
      <span class="key">{JSON.stringify(name)}</span>
      {': '}
    </>
  );
}

function scalarKind(value: JsonValue): string {
  if (value === null) return 'null';
  return typeof value === 'string' ? 'string' : 'number';
}

/** The value inside the result of `@check` or `@stream.with_state`, and chips for what the wrapper reports. */
function wrapperOf(value: JsonValue): { readonly value: JsonValue; readonly chips: VNode } | undefined {
  if (!isJsonObject(value) || Object.keys(value).length !== 2 || !('value' in value)) return undefined;
  const { value: inner, checks, state } = value;
  if (inner === undefined) return undefined;
  if (typeof state === 'string' && STATES.has(state)) return { value: inner, chips: <span class="chip">{state}</span> };
  if (!isJsonObject(checks)) return undefined;
  const outcomes = Object.entries(checks);
  return outcomes.every(([, outcome]) => isJsonObject(outcome) && 'status' in outcome)
    ? { value: inner, chips: <Checks outcomes={outcomes} /> }
    : undefined;
}

const STATES = new Set(['Pending', 'Incomplete', 'Complete']);

function Checks({ outcomes }: { readonly outcomes: ReadonlyArray<readonly [string, JsonValue]> }): VNode {
  return (
    <>
      {outcomes.map(([label, outcome]) => {
        const { status, expression } = outcome as JsonObject;
        const passed = status === 'succeeded';
        return (
          <span key={label} class={passed ? 'chip check-passed' : 'chip check-failed'} title={textOf(expression)}>
            <Icon name={passed ? 'check' : 'close'} />
            <span class="visually-hidden">{passed ? 'passed: ' : 'failed: '}</span>
            {label}
          </span>
        );
      })}
    </>
  );
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}
