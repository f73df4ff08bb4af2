import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { KeptCall, SavedTest } from '../../schema/kept-call.ts';
import { callPath } from '../data/page-place.ts';
import type { ServerConnection } from '../server/connection.ts';
import type { ErrorBody } from '../server/wire.ts';
import { CopyButton, Dialog, ProblemView } from '../widgets/controls.tsx';
import type { KeptCalls } from './call-list.tsx';

interface CallTestDialogProps {
  readonly connection: ServerConnection;
  readonly calls: KeptCalls;
  readonly call: KeptCall;
  readonly onClose: () => void;
}

/** Saves a call as a test of the definitions, or states how to. */
export function CallTestDialog(props: CallTestDialogProps): VNode {
  const [saved, setSaved] = useState<SavedTest | undefined>(undefined);
  const { calls, call, onClose } = props;
  return (
    <Dialog title="Save as test" onClose={onClose}>
      {!calls.canSave ? (
        <p>
          This server cannot write to its definitions. Run <code>svc calls save {call.requestId} --name NAME</code> in
          the folder of the definitions, or start the server with <code>svc dev</code>.
        </p>
      ) : saved === undefined ? (
        <TestForm {...props} onSaved={setSaved} />
      ) : (
        <div class="stack" role="status">
          <p>
            The server appended the test to <code>{saved.path}</code>.
          </p>
          <p>
            {saved.recording === null ? (
              'It has no recorded reply.'
            ) : (
              <>
                Its recorded reply is in <code>{saved.recording}</code>.
              </>
            )}
          </p>
          <pre class="code-frame">{saved.test}</pre>
          <p>
            <CopyButton wide label="Copy the test" text={() => saved.test} />
          </p>
        </div>
      )}
    </Dialog>
  );
}

function TestForm({
  connection,
  call,
  onSaved,
}: CallTestDialogProps & { readonly onSaved: (saved: SavedTest) => void }): VNode {
  const [name, setName] = useState(`${call.functionName}${call.seq}`);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ErrorBody | undefined>(undefined);
  const save = async (): Promise<void> => {
    setBusy(true);
    const answer = await connection.post<SavedTest>(`${callPath(call.seq)}/test`, { name });
    setBusy(false);
    if (answer.ok) onSaved(answer.value);
    else setProblem(answer.problem);
  };
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <label class="stack-tight">
        Name of the test
        <input
          class="input"
          required
          pattern="[A-Za-z_][A-Za-z0-9_]*"
          title="Letters, digits and _"
          autocomplete="off"
          spellcheck={false}
          value={name}
          onInput={(event) => setName(event.currentTarget.value)}
        />
      </label>
      {problem === undefined ? null : <ProblemView problem={problem} />}
      <p>
        <button type="submit" class="button primary" disabled={busy}>
          Save
        </button>
      </p>
    </form>
  );
}
