import type { VNode } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { parseJson, type JsonValue } from '../../base/json.ts';
import type { CallFeedback, KeptCall } from '../../schema/kept-call.ts';
import { timeText } from '../data/amount-texts.ts';
import type { ServerConnection } from '../server/connection.ts';
import type { ErrorBody } from '../server/wire.ts';
import { ProblemView } from '../widgets/controls.tsx';
import { ValueView } from '../widgets/value-view.tsx';

interface CallFeedbackProps {
  readonly connection: ServerConnection;
  readonly call: KeptCall;
  readonly onStored: () => void;
}

/** The feedback about a call, and a form to add some. */
export function CallFeedbackSection(props: CallFeedbackProps): VNode {
  const { feedback } = props.call;
  return (
    <section class="parser" aria-label="Feedback">
      <h3>Feedback</h3>
      <div class="stack">
        {feedback.length === 0 ? null : (
          <ul class="stack-tight">
            {feedback.map((each, at) => (
              <FeedbackView key={at} feedback={each} />
            ))}
          </ul>
        )}
        <FeedbackForm {...props} />
      </div>
    </section>
  );
}

function FeedbackView({ feedback }: { readonly feedback: CallFeedback }): VNode {
  const { at, comment, key, label, score, value } = feedback;
  return (
    <li class="stack-tight">
      <p class="run-row">
        {label === null ? null : <span class="chip chip-feedback">{label}</span>}
        {score === null ? null : <span>score {score}</span>}
        <span class="quiet">
          {timeText(at)}
          {key === null ? '' : `, key ${key}`}
        </span>
      </p>
      {comment === null ? null : <p>{comment}</p>}
      {value === null ? null : (
        <details>
          <summary>Right value</summary>
          <ValueView value={value} />
        </details>
      )}
    </li>
  );
}

type Outcome = { readonly problem: ErrorBody } | { readonly fault: string } | { readonly stored: true };

function FeedbackForm({ connection, call, onStored }: CallFeedbackProps): VNode {
  const form = useRef<HTMLFormElement>(null);
  const [outcome, setOutcome] = useState<Outcome | undefined>(undefined);
  const send = async (): Promise<void> => {
    const body = form.current === null ? 'Nothing to send.' : feedbackIn(new FormData(form.current));
    if (typeof body === 'string') return setOutcome({ fault: body });
    const answer = await connection.post(`feedback/${encodeURIComponent(call.requestId)}`, body);
    if (!answer.ok) return setOutcome({ problem: answer.problem });
    form.current?.reset();
    setOutcome({ stored: true });
    onStored();
  };
  return (
    <form
      ref={form}
      class="feedback-form"
      aria-label="Add feedback"
      onInput={() => setOutcome(undefined)}
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <label class="filter">
        <span>Score</span>
        <input class="input" name="score" type="number" step="any" />
      </label>
      <label class="filter">
        <span>Label</span>
        <input class="input" name="label" autocomplete="off" placeholder="good, wrong, …" />
      </label>
      <label class="filter wide">
        <span>Comment</span>
        <textarea class="input" name="comment" rows={2} />
      </label>
      <label class="filter wide">
        <span>Right value, as JSON</span>
        <textarea class="input text-input" name="value" rows={2} spellcheck={false} />
      </label>
      <div class="wide run-row">
        <button type="submit" class="button small">
          Send feedback
        </button>
        <FeedbackOutcome outcome={outcome} />
      </div>
    </form>
  );
}

function FeedbackOutcome({ outcome }: { readonly outcome: Outcome | undefined }): VNode {
  if (outcome !== undefined && 'problem' in outcome) return <ProblemView problem={outcome.problem} />;
  const fault = outcome !== undefined && 'fault' in outcome ? outcome.fault : undefined;
  return (
    <span class={fault === undefined ? 'quiet' : 'error'} role="status">
      {fault ?? (outcome === undefined ? '' : 'Stored')}
    </span>
  );
}

/** The body of the request; a sentence that states what is wrong if the form has no valid feedback. */
function feedbackIn(data: FormData): Readonly<Record<string, JsonValue>> | string {
  const textOf = (name: string): string => {
    const text = data.get(name);
    return typeof text === 'string' ? text.trim() : '';
  };
  const [score, label, comment, json] = [textOf('score'), textOf('label'), textOf('comment'), textOf('value')];
  const value = json === '' ? undefined : (parseJson(json) as JsonValue | undefined);
  if (json !== '' && value === undefined) return 'The right value is not valid JSON.';
  if (score + label + comment + json === '') return 'Fill in at least one field.';
  return {
    ...(score !== '' && { score: Number(score) }),
    ...(label !== '' && { label }),
    ...(comment !== '' && { comment }),
    ...(value !== undefined && { value }),
  };
}
