import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { json, jsonParseLinter } from '@codemirror/lang-json';
import { bracketMatching, HighlightStyle, indentUnit, syntaxHighlighting } from '@codemirror/language';
import { linter } from '@codemirror/lint';
import { EditorState, type Extension } from '@codemirror/state';
import { drawSelection, EditorView, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { useEffect, useRef } from 'preact/hooks';
import type { VNode } from 'preact';

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
export function JsonEditor({ label, text, revision, onChange }: JsonEditorProps): VNode {
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
