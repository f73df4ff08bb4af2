import { useEffect, useRef, useState } from 'preact/hooks';
import type { VNode } from 'preact';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type { FunctionExample } from '../../schema/program.ts';
import type { PlaygroundFunction } from '../../schema/playground-document.ts';
import { typeText } from '../../schema/type-graph.ts';
import { initialArguments } from '../data/argument-values.ts';
import type { Prompt } from '../state/use-prompt.ts';
import type { Draft, DraftActions } from '../state/use-draft.ts';
import { Segmented } from '../widgets/segmented.tsx';
import { ArgumentsForm } from './arguments-form.tsx';
import { JsonEditor } from './json-editor.tsx';

interface InputPanelProps {
  readonly draft: Draft;
  readonly actions: DraftActions;
  readonly prompt: Prompt;
}

type View = 'form' | 'json';

/** The selected function and its arguments, as a form or as JSON. */
export function InputPanel({ draft, actions, prompt }: InputPanelProps): VNode {
  const [view, setView] = useState<View>('form');
  const { args, fn } = draft;
  return (
    <div class="input-panel">
      <Signature fn={fn} />
      <div class="input-head">
        <Segmented
          label="View of the arguments"
          options={[
            ['form', 'Form'],
            ['json', 'JSON'],
          ]}
          value={view}
          onChange={setView}
        />
        <Examples draft={draft} actions={actions} />
      </div>
      {view === 'form' ? (
        <ArgumentsForm draft={draft} actions={actions} problem={prompt.problem} />
      ) : (
        <ArgumentsJson key={fn.name} args={args} onChange={actions.setArgs} />
      )}
    </div>
  );
}

const LONGEST_SIGNATURE = 60;

function Signature({ fn }: { readonly fn: PlaygroundFunction }): VNode {
  const list = fn.parameters.map(({ name, type }) => `${name}: ${typeText(type)}`).join(', ');
  // The form below shows each parameter with its type.
  const parameters = list.length > LONGEST_SIGNATURE ? `${fn.parameters.length} parameters` : list;
  return (
    <header class="signature">
      <h1>{fn.name}</h1>
      <code>
        ({parameters}) → {typeText(fn.returns)}
      </code>
      {fn.documentation === undefined ? null : <p>{fn.documentation}</p>}
    </header>
  );
}

/** Fills the form with the arguments of a test, or empties it. */
function Examples({ draft, actions }: Omit<InputPanelProps, 'prompt'>): VNode | null {
  const { args, fn, types } = draft;
  const current = fn.examples.findIndex((example) => sameJson(example, args));
  const select = (index: number): void | false =>
    index !== -1 && actions.setArgs(fn.examples[index]?.args ?? initialArguments(fn.parameters, types));
  if (fn.examples.length === 0) return null;
  return (
    <select
      class="input select-input examples"
      aria-label="Example"
      value={String(current)}
      onChange={(event) => select(Number(event.currentTarget.value))}
    >
      {current < 0 ? <option value="-1">Load an example…</option> : null}
      {fn.examples.map(({ name }, index) => (
        <option key={index} value={String(index)}>
          {name}
        </option>
      ))}
      <option value="-2">Empty</option>
    </select>
  );
}

function sameJson(example: FunctionExample, args: JsonObject): boolean {
  return JSON.stringify(example.args) === JSON.stringify(args);
}

interface ArgumentsJsonProps {
  readonly args: JsonObject;
  readonly onChange: (args: JsonObject) => void;
}

/** Keeps a text that is not valid JSON while the user types, with the arguments as they were. */
function ArgumentsJson({ args, onChange }: ArgumentsJsonProps): VNode {
  const [text, setText] = useState(() => JSON.stringify(args, undefined, 2));
  const [revision, setRevision] = useState(0);
  /** The arguments that came from the text and that the page has not rendered yet: the user can type faster than it does. */
  const sent = useRef<readonly JsonObject[]>([args]);
  const fault = faultOf(text);
  useEffect(() => {
    const at = sent.current.indexOf(args);
    if (at >= 0) {
      sent.current = sent.current.slice(at + 1);
      return;
    }
    setText(JSON.stringify(args, undefined, 2));
    setRevision((before) => before + 1);
  }, [args]);
  const change = (next: string): void => {
    setText(next);
    const parsed = parsedObject(next);
    if (parsed === undefined) return;
    sent.current = [...sent.current, parsed];
    onChange(parsed);
  };
  return (
    <div class="stack-tight">
      <JsonEditor label="Arguments as JSON" text={text} revision={revision} onChange={change} />
      {fault === '' ? null : (
        <p class="error" role="alert">
          {fault} The last valid arguments are in use.
        </p>
      )}
    </div>
  );
}

function parsedObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

function faultOf(text: string): string {
  try {
    return isJsonObject(JSON.parse(text)) ? '' : 'The arguments have to be a JSON object.';
  } catch {
    return 'This is not valid JSON.';
  }
}
