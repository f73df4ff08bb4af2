import type { VNode } from 'preact';
import { replySegments } from '../data/reply-segments.ts';
import type { Run } from '../data/run.ts';
import type { ExplainedCandidate, ParseFlag } from '../../schema/explanation.ts';

/** The text of the model, with marks where svc found the value, and where it did not. */
export function ReplyView({ run }: { readonly run: Run }): VNode {
  const segments = replySegments(run.reply, run.explanation);
  return (
    <pre class={run.state === 'streaming' ? 'reply growing' : 'reply'}>
      {segments.map(({ text, verdict }, at) =>
        verdict === undefined ? (
          text
        ) : (
          <mark key={at} class={`part part-${verdict}`}>
            {text}
          </mark>
        ),
      )}
    </pre>
  );
}

const PLACES: Readonly<Record<ExplainedCandidate['place'], string>> = {
  whole: 'the whole reply',
  fence: 'a fence',
  prose: 'a value in the text',
  thought: 'a value in the thoughts',
  text: 'the reply as text',
  several: 'several values together',
};

const VERDICTS: Readonly<Record<ExplainedCandidate['verdict'], string>> = {
  taken: 'Taken',
  'passed-over': 'Passed over',
  mismatch: 'Does not match',
};

/** What svc took from the reply, what it repaired, and what it skipped. */
export function ParserView({ run }: { readonly run: Run }): VNode | null {
  const { explanation } = run;
  if (explanation === undefined) return null;
  return (
    <section class="parser" aria-label="How svc read the reply">
      <h3>How svc read the reply</h3>
      <ul class="candidates">
        {explanation.candidates.toSorted(byVerdict).map((candidate, at) => (
          <CandidateView key={at} candidate={candidate} />
        ))}
      </ul>
      {explanation.omitted === 0 ? null : <p class="quiet">{explanation.omitted} more candidates</p>}
    </section>
  );
}

/** The value that svc took comes first. */
function byVerdict(a: ExplainedCandidate, b: ExplainedCandidate): number {
  return Number(b.verdict === 'taken') - Number(a.verdict === 'taken');
}

function CandidateView({ candidate }: { readonly candidate: ExplainedCandidate }): VNode {
  const { criterion, flags, from, json, place, reasons = [], to, verdict } = candidate;
  return (
    <li class={`candidate candidate-${verdict}`}>
      <p>
        <strong>{VERDICTS[verdict]}</strong>: {PLACES[place]}{' '}
        <span class="quiet">
          (characters {from} to {to})
        </span>
        {criterion === undefined || criterion === '' ? '' : `, because ${criterion}`}
      </p>
      {verdict === 'taken' || json === undefined ? null : <code class="candidate-json">{shortened(json)}</code>}
      {reasons.map(({ path, message }, at) => (
        <p key={at} class="reason">
          {path === '' ? null : <code>{path}</code>} {message}
        </p>
      ))}
      {verdict === 'taken' && flags.length === 0 ? <p class="quiet">Nothing to repair.</p> : null}
      {flags.length === 0 ? null : (
        <ul class="flags">
          {flags.map((flag, at) => (
            <FlagView key={at} flag={flag} />
          ))}
        </ul>
      )}
    </li>
  );
}

function FlagView({ flag: { flag, path, detail } }: { readonly flag: ParseFlag }): VNode {
  return (
    <li>
      <span class="chip">{flag}</span> {path === '' ? null : <code>{path}</code>} {detail}
    </li>
  );
}

function shortened(json: string): string {
  return json.length > 200 ? `${json.slice(0, 200)}…` : json;
}
