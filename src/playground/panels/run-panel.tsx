import { useMemo, useEffect, useState } from 'preact/hooks';
import type { ComponentChildren, VNode } from 'preact';
import { dollarText } from '../data/amount-texts.ts';
import { differingPaths, isRunning, type Run, STATE_TEXT, replySegments } from '../data/run.ts';
import { CopyButton, ProblemView } from '../widgets/controls.tsx';
import { Messages } from '../widgets/messages.tsx';
import { ValueView } from '../widgets/value-view.tsx';
import { durationText } from '../../base/amounts.ts';
import type { CallAttempt } from '../../schema/kept-call.ts';
import type { ExplainedCandidate, ParseFlag } from '../../schema/explanation.ts';

interface RunPanelProps {
  readonly shown: readonly Run[];
  readonly command: (run: Run) => string;
}

/** The answer of a run as it grows, or those of two runs side by side. */
export function RunPanel({ shown, command }: RunPanelProps): VNode {
  const [first, second] = shown;
  if (first === undefined) {
    return (
      <div class="empty">
        <p>The answer appears here.</p>
        <p class="quiet">
          Run the function with <kbd>Ctrl</kbd> <kbd>Enter</kbd> (<kbd>⌘</kbd> <kbd>Enter</kbd>).
        </p>
      </div>
    );
  }
  return second === undefined ? <OneRun run={first} command={command} /> : <TwoRuns a={first} b={second} />;
}

function OneRun({ run, command }: { readonly run: Run; readonly command: RunPanelProps['command'] }): VNode {
  return (
    <article class="run" aria-label={`Run of ${run.functionName}`}>
      <RunHead run={run} />
      {run.problem !== undefined && run.reply === '' && run.value === undefined ? null : (
        <div class="answer">
          <ValueSection run={run} />
          <ReplySection run={run} />
        </div>
      )}
      <ParserView run={run} />
      {severalAttempts(run)}
      <SentPrompt run={run} />
      <p class="run-actions">
        <CopyButton wide label="Copy as curl" text={() => command(run)} />
      </p>
    </article>
  );
}

/** The figures of a run, and its failure. */
export function RunHead({ run }: { readonly run: Run }): VNode {
  return (
    <>
      <RunFacts run={run} />
      {run.problem === undefined ? null : <ProblemView problem={run.problem} />}
    </>
  );
}

interface TitledPartProps {
  readonly title: string;
  /** What the button copies; undefined while there is nothing. */
  readonly text: string | undefined;
  readonly copyLabel: string;
  readonly missing: string;
  readonly children: ComponentChildren;
}

/** A part of an answer, with a button that copies it. */
export function TitledPart({ title, text, copyLabel, missing, children }: TitledPartProps): VNode {
  return (
    <section class="answer-part" aria-label={title}>
      <div class="part-head">
        <h3>{title}</h3>
        <span class="grow" />
        {text === undefined ? null : <CopyButton label={copyLabel} text={() => text} />}
      </div>
      {text === undefined ? <p class="quiet">{missing}</p> : children}
    </section>
  );
}

export function ValueSection({
  run,
  differing,
}: {
  readonly run: Run;
  readonly differing?: ReadonlySet<string>;
}): VNode {
  const { value } = run;
  const text = value === undefined ? undefined : JSON.stringify(value, undefined, 2);
  return (
    <TitledPart
      title="Value"
      copyLabel="Copy the value"
      text={text}
      missing={isRunning(run) ? 'Nothing yet' : 'No value'}
    >
      {value === undefined ? null : <ValueView value={value} {...(differing !== undefined && { differing })} />}
    </TitledPart>
  );
}

interface ReplySectionProps {
  readonly run: Run;
  readonly missing?: string;
}

/** The reply of the model, with marks at what svc took from it. */
export function ReplySection({ run, missing = isRunning(run) ? 'Nothing yet' : 'No reply' }: ReplySectionProps): VNode {
  const text = run.reply === '' ? undefined : run.reply;
  return (
    <TitledPart title="Reply of the model" copyLabel="Copy the reply" text={text} missing={missing}>
      <ReplyView run={run} />
    </TitledPart>
  );
}

function SentPrompt({ run }: { readonly run: Run }): VNode | null {
  const messages = run.trace?.prompt;
  if (messages === undefined) return null;
  return (
    <details class="sent-prompt">
      <summary>Prompt of this run</summary>
      <Messages messages={messages} />
    </details>
  );
}

/** Marks what differs between the values once both are complete. */
function TwoRuns({ a, b }: { readonly a: Run; readonly b: Run }): VNode {
  const complete = a.state === 'done' && b.state === 'done';
  const differing = useMemo(() => differingPaths(a.value, b.value), [a.value, b.value]);
  return (
    <div class="comparison">
      {complete ? (
        <p class={differing.size === 0 ? 'comparison-summary' : 'comparison-summary differ'} role="status">
          {differing.size === 0 ? 'The values are equal.' : `The values differ in ${places(differing.size)}.`}
        </p>
      ) : null}
      <div class="columns">
        {[a, b].map((run, at) => (
          <article key={run.id} class="run" aria-label={`Run ${at === 0 ? 'A' : 'B'}, ${run.client}`}>
            <h3 class="column-head">
              <span class="chip">{at === 0 ? 'A' : 'B'}</span> {run.client}
              <span class="quiet"> {run.mode}</span>
            </h3>
            <RunHead run={run} />
            <ValueSection run={run} {...(complete && { differing })} />
            <details>
              <summary>Reply of the model</summary>
              <ReplyView run={run} />
              <ParserView run={run} />
            </details>
            {severalAttempts(run)}
          </article>
        ))}
      </div>
    </div>
  );
}

function places(count: number): string {
  return count === 1 ? 'one place' : `${count} places`;
}

function RunFacts({ run }: { readonly run: Run }): VNode {
  const elapsed = useElapsed(run);
  const { partials, resets, trace } = run;
  const figures: ReadonlyArray<readonly [name: string, value: string | number | undefined]> = [
    ['function', run.functionName],
    ['client', clientText(run)],
    ['total', durationText(trace?.total_ms ?? elapsed)],
    ['first text', firstText(run)],
    ['tokens in', trace?.input_tokens],
    ['tokens out', trace?.output_tokens],
    ['cost', trace?.cost === undefined ? undefined : dollarText(trace.cost)],
    ['partials', partials === 0 ? undefined : partials],
    ['restarts', resets === 0 ? undefined : resets],
    ['ended by', trace?.finish_reason === 'stop' ? undefined : trace?.finish_reason],
  ];
  return (
    <div class="run-facts">
      <span class={`state state-${run.state}`} role="status">
        {STATE_TEXT[run.state]}
      </span>
      <dl class="figures">
        {figures.map(([name, value]) =>
          value === undefined ? null : (
            <div key={name} class="figure">
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
        )}
      </dl>
    </div>
  );
}

function clientText({ client, trace }: Run): string {
  const name = trace?.client ?? client;
  return trace?.model === undefined ? name : `${name} (${trace.model})`;
}

function firstText({ firstMs, mode, trace }: Run): string | undefined {
  const ms = trace?.first_text_ms ?? (mode === 'stream' ? firstMs : undefined);
  return ms === undefined ? undefined : durationText(ms);
}

const TICK_MS = 100;

function useElapsed(run: Run): number {
  const running = isRunning(run);
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (!running) return undefined;
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, [running]);
  return running ? Math.max(0, now - run.startedAt.getTime()) : run.elapsedMs;
}

/** The failure of the only attempt is that of the run. */
function severalAttempts({ trace }: Run): VNode | null {
  return trace === undefined || trace.attempts.length < 2 ? null : <Attempts attempts={trace.attempts} />;
}

/** Every attempt, with a bar that begins at the end of the attempt before. */
export function Attempts({ attempts }: { readonly attempts: readonly CallAttempt[] }): VNode {
  const total = attempts.reduce((sum, { duration_ms: ms }) => sum + ms, 0);
  let start = 0;
  return (
    <section class="attempts" aria-label="Attempts">
      <h3>Attempts</h3>
      <ol>
        {attempts.map((attempt, at) => {
          start += attempt.duration_ms;
          return <Attempt key={at} attempt={attempt} start={start - attempt.duration_ms} total={Math.max(1, total)} />;
        })}
      </ol>
    </section>
  );
}

interface AttemptProps {
  readonly attempt: CallAttempt;
  /** In milliseconds, as is the total. */
  readonly start: number;
  readonly total: number;
}

function Attempt({ attempt, start, total }: AttemptProps): VNode {
  const { client, duration_ms: ms, message, outcome, reask, upstream_status: status } = attempt;
  return (
    <li>
      <svg class="attempt-bar" viewBox={`0 0 ${total} 1`} preserveAspectRatio="none" aria-hidden="true">
        <rect class={outcome === 'ok' ? 'ok' : 'failed'} x={start} width={Math.max(ms, total / 200)} height="1" />
      </svg>
      <span class={outcome === 'ok' ? 'chip check-passed' : 'chip check-failed'}>{outcome}</span> {client}
      {reask === true ? ', re-ask' : ''}
      {status === undefined ? '' : `, status ${status}`}, {durationText(ms)}
      {message === undefined ? null : <p class="quiet">{message}</p>}
    </li>
  );
}

/** The text of the model, with marks where svc found the value, and where it did not. */
function ReplyView({ run }: { readonly run: Run }): VNode {
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

/** A repair of a reply. */
export function FlagView({ flag: { flag, path, detail } }: { readonly flag: ParseFlag }): VNode {
  return (
    <li>
      <span class="chip">{flag}</span> {path === '' ? null : <code>{path}</code>} {detail}
    </li>
  );
}

function shortened(json: string): string {
  return json.length > 200 ? `${json.slice(0, 200)}…` : json;
}
