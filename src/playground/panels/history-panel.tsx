import { useState } from 'preact/hooks';
import type { VNode } from 'preact';
import { STATE_TEXT, type Run } from '../data/run.ts';
import { durationText } from '../../base/amounts.ts';

interface HistoryPanelProps {
  readonly runs: readonly Run[];
  readonly onShow: (ids: readonly number[]) => void;
  readonly onReuse: (run: Run) => void;
}

/** The runs since the page was loaded: to show again, to compare two, or to begin with their arguments. */
export function HistoryPanel({ runs, onShow, onReuse }: HistoryPanelProps): VNode {
  const [selected, setSelected] = useState<readonly number[]>([]);
  const toggle = (id: number): void =>
    setSelected((before) => (before.includes(id) ? before.filter((each) => each !== id) : [...before, id].slice(-2)));
  if (runs.length === 0) {
    return (
      <div class="empty">
        <p>The runs of this page appear here.</p>
        <p class="quiet">Select two of them to compare their values.</p>
      </div>
    );
  }
  return (
    <section class="history" aria-label="History">
      <div class="history-head">
        <p class="quiet">Kept until you close or reload this page.</p>
        <span class="grow" />
        <button
          type="button"
          class="button small"
          disabled={selected.length !== 2}
          onClick={() => onShow(selected.toSorted((a, b) => a - b))}
        >
          Compare {selected.length} of 2
        </button>
      </div>
      <ul class="history-list">
        {runs.map((run) => (
          <li key={run.id} class="history-row">
            <input
              type="checkbox"
              aria-label={`Select run ${run.id} to compare`}
              checked={selected.includes(run.id)}
              onChange={() => toggle(run.id)}
            />
            <button type="button" class="history-run" onClick={() => onShow([run.id])}>
              <span class="history-line">
                <span class={`dot state-${run.state}`} title={STATE_TEXT[run.state]} />
                <strong>{run.functionName}</strong>
                <span class="history-figures quiet">{[run.client, run.mode, durationOf(run)].join(' · ')}</span>
                <time class="quiet">{run.startedAt.toLocaleTimeString()}</time>
              </span>
              <span class="history-outcome quiet">{outcomeOf(run)}</span>
            </button>
            <button type="button" class="button small" onClick={() => onReuse(run)}>
              Reuse
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function durationOf({ elapsedMs, trace }: Run): string {
  return durationText(trace?.total_ms ?? elapsedMs);
}

/** The beginning of the value, or the reason of a failure. */
function outcomeOf({ problem, state, value }: Run): string {
  if (problem !== undefined) return problem.error;
  return value === undefined ? STATE_TEXT[state] : JSON.stringify(value).slice(0, 200);
}
