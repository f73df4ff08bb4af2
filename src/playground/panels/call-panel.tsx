import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { counted } from '../../base/amounts.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Explanation } from '../../schema/explanation.ts';
import type { KeptCall } from '../../schema/kept-call.ts';
import type { PlaygroundDocument } from '../../schema/playground-document.ts';
import { timeText } from '../data/amount-texts.ts';
import { argumentsOf, messagesOf, runOfCall } from '../data/kept-run.ts';
import { callPath, fragmentOf } from '../data/page-place.ts';
import type { ServerConnection } from '../server/connection.ts';
import { useAnswer } from '../state/use-answer.ts';
import { curlCommand, fetchExplanation } from '../state/use-runs.ts';
import { AnswerNotice, CopyButton, Icon } from '../widgets/controls.tsx';
import { Messages } from '../widgets/messages.tsx';
import { ValueView } from '../widgets/value-view.tsx';
import { CallFeedbackSection } from './call-feedback.tsx';
import { CallMarks, type KeptCalls } from './call-list.tsx';
import { CallTestDialog } from './call-test-dialog.tsx';
import { TitledPart, Attempts, FlagView, ParserView, ReplySection, RunHead, ValueSection } from './run-panel.tsx';

interface CallPanelProps {
  readonly connection: ServerConnection;
  readonly document: PlaygroundDocument;
  readonly calls: KeptCalls;
  readonly seq: number;
  /** The address of the list from which the user came. */
  readonly back: string;
  readonly onRunAgain: (functionName: string, args: JsonObject) => void;
}

/** A kept call in full. */
export function CallPanel(props: CallPanelProps): VNode {
  const { connection, seq, back } = props;
  const key = callPath(seq);
  const [answer, reload] = useAnswer<KeptCall>(connection, { key, path: () => key });
  const call = answer.value;
  return (
    <main class="calls-scroll" id="content" tabIndex={-1} aria-label={`Call ${seq}`}>
      <p>
        <a href={back}>← All calls</a>
      </p>
      {answer.status === 404 ? (
        <CallGone seq={seq} />
      ) : (
        <AnswerNotice answer={answer} missing={call === undefined} onRetry={reload} />
      )}
      {call === undefined ? null : <CallView {...props} call={call} onChange={reload} />}
    </main>
  );
}

export function CallGone({ seq }: { readonly seq: number }): VNode {
  return (
    <div class="empty" role="alert">
      <p>Call {seq} is gone.</p>
      <p class="quiet">The server removes old calls to stay within the limits for kept calls.</p>
    </div>
  );
}

interface CallViewProps extends CallPanelProps {
  readonly call: KeptCall;
  readonly onChange: () => void;
}

function CallView({ connection, document, calls, call, onRunAgain, onChange }: CallViewProps): VNode {
  const run = { ...runOfCall(call), ...useExplanation(connection, call) };
  const messages = messagesOf(call);
  const attempts = run.trace?.attempts ?? [];
  const missing = calls.content === 'all' ? 'No reply' : 'Not kept';
  const changed = call.program !== document.program;
  const flags = run.explanation === undefined || changed ? (call.content?.flags ?? []) : [];
  return (
    <article class="run call" aria-label={`Call of ${call.functionName}`}>
      <CallHead call={call} />
      <CallActions {...{ document, calls, call, connection, onRunAgain }} />
      <RunHead run={run} />
      <MissingContent calls={calls} call={call} />
      {call.content === null ? null : (
        <>
          <ArgumentsSection call={call} />
          <div class="answer">
            <ValueSection run={run} />
            <ReplySection run={run} missing={missing} />
          </div>
        </>
      )}
      {changed && run.explanation !== undefined ? (
        <p class="quiet small">The definitions have changed since this call. Those of now read its reply as follows.</p>
      ) : null}
      <ParserView run={run} />
      {flags.length === 0 ? null : (
        <section class="parser" aria-label="Repairs">
          <h3>What svc repaired in this call</h3>
          <ul class="flags">
            {flags.map((flag, at) => (
              <FlagView key={at} flag={flag} />
            ))}
          </ul>
        </section>
      )}
      {attempts.length === 0 ? null : <Attempts attempts={attempts} />}
      {messages === undefined ? null : (
        <details class="sent-prompt">
          <summary>Prompt, {counted(messages.length, 'message')}</summary>
          <Messages messages={messages} />
        </details>
      )}
      <CallFeedbackSection connection={connection} call={call} onStored={onChange} />
    </article>
  );
}

/** Asks how the definitions of now read the kept reply. */
function useExplanation(
  connection: ServerConnection,
  { content, functionName }: KeptCall,
): { readonly explanation?: Explanation } {
  const [explained, setExplained] = useState<{ readonly explanation?: Explanation }>({});
  const reply = content?.reply ?? '';
  useEffect(() => {
    if (reply === '') return undefined;
    const abort = new AbortController();
    const explain = async (): Promise<void> => {
      const explanation = await fetchExplanation({ connection, functionName, signal: abort.signal }, reply);
      if (!abort.signal.aborted && explanation !== undefined) setExplained({ explanation });
    };
    void explain();
    return () => abort.abort();
  }, [connection, functionName, reply]);
  return explained;
}

function CallHead({ call }: { readonly call: KeptCall }): VNode {
  const { at, functionName, key, requestId, seq } = call;
  return (
    <header class="call-title">
      <h1>{functionName}</h1>
      <p class="call-facts quiet">
        <span>Call {seq}</span>
        <time dateTime={new Date(at).toISOString()}>{timeText(at)}</time>
        {key === null ? null : <span>key {key}</span>}
        <span>
          request <code>{requestId}</code> <CopyButton label="Copy the request id" text={() => requestId} />
        </span>
        <CallMarks call={call} />
      </p>
    </header>
  );
}

type CallActionsProps = Pick<CallViewProps, 'connection' | 'document' | 'calls' | 'call' | 'onRunAgain'>;

function CallActions({ connection, document, calls, call, onRunAgain }: CallActionsProps): VNode {
  const [saving, setSaving] = useState(false);
  const { functionName, seq } = call;
  const args = argumentsOf(call);
  const exists = document.functions.some(({ name }) => name === functionName);
  return (
    <div class="run-row">
      <button
        type="button"
        class="button small"
        disabled={args === undefined || !exists}
        title={
          exists ? (args === undefined ? 'Its arguments are not kept' : '') : 'The function does not exist any more'
        }
        onClick={() => args !== undefined && onRunAgain(functionName, args)}
      >
        <Icon name="play" /> Run again
      </button>
      <a class="button small" href={fragmentOf({ page: 'calls', filter: { function: functionName }, compare: seq })}>
        Compare with…
      </a>
      <button type="button" class="button small" onClick={() => setSaving(true)}>
        Save as test
      </button>
      {args === undefined ? null : (
        <CopyButton wide label="Copy as curl" text={() => curlCommand(connection, runOfCall(call))} />
      )}
      {saving ? <CallTestDialog {...{ connection, calls, call }} onClose={() => setSaving(false)} /> : null}
    </div>
  );
}

/** Why the page shows less than a whole call. */
function MissingContent({ calls, call: { content } }: Pick<CallViewProps, 'calls' | 'call'>): VNode | null {
  if (content?.withheld !== undefined)
    return <p class="notice">The texts of this call are not kept: {content.withheld}</p>;
  const hasReply = content?.prompt !== undefined || content?.reply !== undefined;
  if (hasReply || (content !== null && calls.content === 'all')) return null;
  return (
    <p class="notice">
      {content === null ? 'The texts of this call are not kept.' : 'Its prompt and reply are not kept.'}{' '}
      {calls.content === 'all' ? null : (
        <>
          Start the server with <code>--calls-content all</code> to keep those of later calls.
        </>
      )}
    </p>
  );
}

function ArgumentsSection({ call }: { readonly call: KeptCall }): VNode {
  const args = argumentsOf(call);
  const text = args === undefined ? undefined : JSON.stringify(args, undefined, 2);
  return (
    <TitledPart title="Arguments" copyLabel="Copy the arguments" text={text} missing="Not kept">
      {args === undefined ? null : <ValueView value={args} />}
    </TitledPart>
  );
}
