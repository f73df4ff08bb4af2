import { useEffect, useLayoutEffect, useRef, useState, useMemo } from 'preact/hooks';
import type { VNode } from 'preact';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { json, jsonParseLinter } from '@codemirror/lang-json';
import { bracketMatching, HighlightStyle, indentUnit, syntaxHighlighting } from '@codemirror/language';
import { linter } from '@codemirror/lint';
import { EditorState, type Extension } from '@codemirror/state';
import { drawSelection, EditorView, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { isJsonObject, parseJson, type JsonObject, ownValue } from '../../base/json.ts';
import type { FunctionExample } from '../../schema/program.ts';
import type { PlaygroundFunction } from '../../schema/playground-document.ts';
import { typeText } from '../../schema/type-graph.ts';
import { initialArguments, withMember, childPath } from '../data/argument-values.ts';
import type { Prompt } from './prompt-panel.tsx';
import type { Draft, DraftActions } from '../state/use-draft.ts';
import { Segmented, Select } from '../widgets/controls.tsx';
import { Field, FormContext } from './value-fields.tsx';
import type { ErrorBody } from '../server/wire.ts';

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
        <ArgumentsJson key={fn.name} args={args} onChange={actions.setArgs} onFault={actions.setFault} />
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
    <Select
      class="examples"
      aria-label="Example"
      value={String(current)}
      options={[
        ...(current < 0 ? [['-1', 'Load an example…'] as const] : []),
        ...fn.examples.map(({ name }, index) => [String(index), name] as const),
        ['-2', 'Empty'],
      ]}
      onChange={(value) => select(Number(value))}
    />
  );
}

function sameJson(example: FunctionExample, args: JsonObject): boolean {
  return JSON.stringify(example.args) === JSON.stringify(args);
}

interface ArgumentsJsonProps {
  readonly args: JsonObject;
  readonly onChange: (args: JsonObject) => void;
  /** Called when the text becomes or stops being the text of arguments. */
  readonly onFault: (hasFault: boolean) => void;
}

/** Keeps a text that is not valid JSON while the user types, with the arguments as they were. */
function ArgumentsJson({ args, onChange, onFault }: ArgumentsJsonProps): VNode {
  const [text, setText] = useState(() => JSON.stringify(args, undefined, 2));
  const [revision, setRevision] = useState(0);
  /** The arguments that came from the text and that the page has not rendered yet: the user can type faster than it does. */
  const sent = useRef<readonly JsonObject[]>([args]);
  const { fault } = readArguments(text);
  const hasFault = fault !== undefined;
  // Before the user can press the keys that run the function.
  useLayoutEffect(() => {
    onFault(hasFault);
    return () => onFault(false);
  }, [hasFault]);
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
    const { args: parsed } = readArguments(next);
    if (parsed === undefined) return;
    sent.current = [...sent.current, parsed];
    onChange(parsed);
  };
  return (
    <div class="stack-tight">
      <JsonEditor label="Arguments as JSON" text={text} revision={revision} onChange={change} />
      {fault === undefined ? null : (
        <p class="error" role="alert">
          {fault} The prompt is that of the last valid arguments.
        </p>
      )}
    </div>
  );
}

function readArguments(text: string): { readonly args?: JsonObject; readonly fault?: string } {
  const value = parseJson(text);
  if (value === undefined) return { fault: 'This is not valid JSON.' };
  return isJsonObject(value) ? { args: value as JsonObject } : { fault: 'The arguments have to be a JSON object.' };
}

interface ArgumentsFormProps {
  readonly draft: Draft;
  readonly actions: DraftActions;
  readonly problem: ErrorBody | undefined;
}

function ArgumentsForm({ draft, actions, problem }: ArgumentsFormProps): VNode {
  const { args, fn, types } = draft;
  const form = useMemo(() => ({ types, errors: errorsByPath(problem) }), [types, problem]);
  if (fn.parameters.length === 0) return <p class="quiet">This function has no parameters.</p>;
  return (
    <FormContext.Provider value={form}>
      <div class="form" key={fn.name}>
        {fn.parameters.map(({ name, type, description }) => (
          <Field
            key={name}
            label={name}
            type={type}
            description={description}
            path={childPath('', name)}
            value={ownValue(args, name)}
            onChange={(value) => actions.setArgs(withMember(args, name, value))}
          />
        ))}
      </div>
    </FormContext.Provider>
  );
}

/** The first message about each value. */
function errorsByPath(problem: ErrorBody | undefined): ReadonlyMap<string, string> {
  const details = problem?.error === 'invalid_argument' ? (problem.details ?? []) : [];
  return new Map(details.toReversed().map(({ path, message }) => [path, message] as const));
}

interface JsonEditorProps {
  readonly label: string;
  /** The text to begin with. Later texts replace the user's only if their revision is another one. */
  readonly text: string;
  readonly revision: number;
  readonly onChange: (text: string) => void;
}

/** The colours are variables of the page, so that the editor follows its theme. */
const HIGHLIGHT = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--syntax-key)' },
  { tag: tags.string, color: 'var(--syntax-string)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--syntax-number)' },
  { tag: tags.punctuation, color: 'var(--quiet)' },
]);

const THEME = EditorView.theme({
  '&': { backgroundColor: 'var(--field)', color: 'var(--text)', fontSize: '13px' },
  '&.cm-focused': { outline: 'none' },
  '.cm-content': { fontFamily: 'var(--mono)', padding: '10px 0', caretColor: 'var(--accent)' },
  '.cm-cursor': { borderLeftColor: 'var(--accent)' },
  '.cm-gutters': { backgroundColor: 'transparent', color: 'var(--quiet)', border: 'none' },
  '.cm-selectionBackground': { backgroundColor: 'var(--selection) !important' },
  '.cm-matchingBracket': { backgroundColor: 'var(--selection)' },
  '.cm-tooltip': { backgroundColor: 'var(--raised)', color: 'var(--text)', border: '1px solid var(--line)' },
  '.cm-diagnostic': { fontFamily: 'var(--sans)' },
});

/** Enter with Ctrl or Command runs the function, wherever the focus is. */
const RUN_KEYS = new Set(['Mod-Enter']);

function extensions(label: string, onChange: (text: string) => void): Extension {
  return [
    lineNumbers(),
    history(),
    drawSelection(),
    bracketMatching(),
    indentUnit.of('  '),
    json(),
    linter(jsonParseLinter(), { delay: 300 }),
    syntaxHighlighting(HIGHLIGHT),
    keymap.of([...defaultKeymap.filter(({ key = '' }) => !RUN_KEYS.has(key)), ...historyKeymap, indentWithTab]),
    EditorView.lineWrapping,
    EditorView.domEventHandlers({ beforeinput: replaceSelection }),
    EditorView.contentAttributes.of({ 'aria-label': label }),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) onChange(update.state.doc.toString());
    }),
    THEME,
  ];
}

/**
 * Replaces the selection by what the user types. The browser would keep the style of the selected text in an attribute, which the
 * policy of the page does not allow.
 */
function replaceSelection(event: InputEvent, view: EditorView): boolean {
  const { data, inputType, isComposing } = event;
  if (inputType !== 'insertText' || data === null || isComposing || view.state.selection.main.empty) return false;
  event.preventDefault();
  view.dispatch(view.state.replaceSelection(data), { userEvent: 'input.type', scrollIntoView: true });
  return true;
}

/** An editor for JSON, with colours and errors. Escape, then Tab leaves it. */
function JsonEditor({ label, text, revision, onChange }: JsonEditorProps): VNode {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | undefined>(undefined);
  const listener = useRef(onChange);
  listener.current = onChange;
  useEffect(() => {
    if (host.current === null) return undefined;
    // The policy allows no style element either: in a shadow tree, CodeMirror adopts style sheets instead.
    const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: 'open' });
    const state = EditorState.create({ doc: text, extensions: extensions(label, (next) => listener.current(next)) });
    const editor = new EditorView({ state, parent: root, root });
    view.current = editor;
    return () => editor.destroy();
  }, [label]);
  useEffect(() => {
    const editor = view.current;
    if (editor === undefined || editor.state.doc.toString() === text) return;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: text } });
    // The user can type faster than the page renders: an older text must not replace a newer one.
  }, [revision]);
  return <div class="json-editor" ref={host} />;
}
