import { useMemo } from 'preact/hooks';
import type { VNode } from 'preact';
import { differingPaths } from '../data/diff-values.ts';
import { isRunning, type Run } from '../data/run.ts';
import { CopyButton } from '../widgets/copy-button.tsx';
import { Messages } from '../widgets/messages.tsx';
import { ProblemView } from '../widgets/problem-view.tsx';
import { ValueView } from '../widgets/value-view.tsx';
import { ParserView, ReplyView } from './reply-view.tsx';
import { Attempts, RunFacts } from './run-facts.tsx';

interface RunPanelProps {
  /** None, one, or two to compare. */
  readonly shown: readonly Run[];
  /** A command line that repeats the run. */
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
      <Attempts run={run} />
      <SentPrompt run={run} />
      <p class="run-actions">
        <CopyButton wide label="Copy as curl" text={() => command(run)} />
      </p>
    </article>
  );
}

function RunHead({ run }: { readonly run: Run }): VNode {
  return (
    <>
      <RunFacts run={run} />
      {run.problem === undefined ? null : <ProblemView problem={run.problem} />}
    </>
  );
}

interface ValueSectionProps {
  readonly run: Run;
  readonly differing?: ReadonlySet<string>;
}

function ValueSection({ run, differing }: ValueSectionProps): VNode {
  const { value } = run;
  return (
    <section class="answer-part" aria-label="Value">
      <div class="part-head">
        <h3>Value</h3>
        <span class="grow" />
        {value === undefined ? null : (
          <CopyButton label="Copy the value" text={() => JSON.stringify(value, undefined, 2)} />
        )}
      </div>
      {value === undefined ? (
        <p class="quiet">{isRunning(run) ? 'Nothing yet' : 'No value'}</p>
      ) : (
        <ValueView value={value} {...(differing !== undefined && { differing })} />
      )}
    </section>
  );
}

function ReplySection({ run }: { readonly run: Run }): VNode {
  return (
    <section class="answer-part" aria-label="Reply of the model">
      <div class="part-head">
        <h3>Reply of the model</h3>
        <span class="grow" />
        {run.reply === '' ? null : <CopyButton label="Copy the reply" text={() => run.reply} />}
      </div>
      {run.reply === '' ? <p class="quiet">{isRunning(run) ? 'Nothing yet' : 'No reply'}</p> : <ReplyView run={run} />}
    </section>
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
            <Attempts run={run} />
          </article>
        ))}
      </div>
    </div>
  );
}

function places(count: number): string {
  return count === 1 ? 'one place' : `${count} places`;
}
