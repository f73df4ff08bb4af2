import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import { counted } from '../../base/amounts.ts';
import type { KeptCall } from '../../schema/kept-call.ts';
import { timeText } from '../data/amount-texts.ts';
import { runOfCall, textsOfCall } from '../data/kept-run.ts';
import { diffLines } from '../data/line-diff.ts';
import { callPath, fragmentOf } from '../data/page-place.ts';
import type { ServerConnection } from '../server/connection.ts';
import { useAnswer, type NewestAnswer } from '../state/use-answer.ts';
import { AnswerNotice } from '../widgets/controls.tsx';
import { CallGone } from './call-panel.tsx';
import { RunHead } from './run-panel.tsx';

interface CallComparisonProps {
  readonly connection: ServerConnection;
  readonly seqs: readonly [number, number];
}

/** Two calls side by side, with marks at the lines that differ. */
export function CallComparison({ connection, seqs }: CallComparisonProps): VNode {
  const [a, b] = [useCall(connection, seqs[0]), useCall(connection, seqs[1])];
  return (
    <main class="calls-scroll" id="content" tabIndex={-1} aria-label="Comparison">
      <p>
        <a href={fragmentOf({ page: 'call', seq: seqs[0] })}>← Call {seqs[0]}</a>
      </p>
      <h1>
        Calls {seqs[0]} and {seqs[1]}
      </h1>
      {[a, b].map((answer, at) =>
        answer.status === 404 ? (
          <CallGone key={at} seq={seqs[at] ?? 0} />
        ) : (
          <AnswerNotice key={at} answer={answer} missing={answer.value === undefined} />
        ),
      )}
      {a.value === undefined || b.value === undefined ? null : <TwoCalls a={a.value} b={b.value} />}
    </main>
  );
}

function useCall(connection: ServerConnection, seq: number): NewestAnswer<KeptCall> {
  const key = callPath(seq);
  const [answer] = useAnswer<KeptCall>(connection, { key, path: () => key });
  return answer.of === key ? answer : { of: '', slow: answer.slow };
}

interface TwoCallsProps {
  readonly a: KeptCall;
  readonly b: KeptCall;
}

function TwoCalls({ a, b }: TwoCallsProps): VNode {
  const [left, right] = [textsOfCall(a), textsOfCall(b)];
  return (
    <>
      <div class="columns two">
        {[a, b].map((call) => (
          <article key={call.seq} class="run" aria-label={`Call ${call.seq}`}>
            <h2 class="column-head">
              <a href={fragmentOf({ page: 'call', seq: call.seq })}>Call {call.seq}</a>{' '}
              <span class="quiet">{timeText(call.at)}</span>
            </h2>
            <RunHead run={runOfCall(call)} />
          </article>
        ))}
      </div>
      {[...left].map(([title, text]) => (
        <TextDiff key={title} title={title} a={text} b={right.get(title) ?? ''} />
      ))}
    </>
  );
}

interface TextDiffProps {
  readonly title: string;
  readonly a: string;
  readonly b: string;
}

function TextDiff({ title, a, b }: TextDiffProps): VNode {
  const rows = useMemo(() => diffLines(a, b), [a, b]);
  const differing = rows.filter((row) => row.a !== row.b).length;
  const summary = a + b === '' ? 'none' : differing === 0 ? 'equal' : `${counted(differing, 'line')} differ`;
  return (
    <details class="diff" open={differing > 0}>
      <summary>
        <strong>{title}</strong>: {differing === 1 ? '1 line differs' : summary}
      </summary>
      <div class="diff-rows">
        {rows.map((row, at) => (
          <div key={at} class="diff-row">
            <DiffCell text={row.a} differs={row.a !== row.b} />
            <DiffCell text={row.b} differs={row.a !== row.b} />
          </div>
        ))}
      </div>
    </details>
  );
}

function DiffCell({ text, differs }: { readonly text: string | undefined; readonly differs: boolean }): VNode {
  if (text === undefined) return <span class="diff-cell absent" />;
  return differs ? <mark class="diff-cell differs">{text}</mark> : <span class="diff-cell">{text}</span>;
}
