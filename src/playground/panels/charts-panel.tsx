import type { VNode } from 'preact';
import type { CallPoint, CallSeries } from '../../schema/kept-call.ts';
import { timeText } from '../data/amount-texts.ts';
import {
  barHeights,
  chartWindow,
  INTERVAL_TEXTS,
  MEASURES,
  valuesOver,
  type ChartWindow,
  type Measure,
} from '../data/call-charts.ts';
import { fragmentOf, RANGE_TEXTS, type Range } from '../data/page-place.ts';
import type { ServerConnection } from '../server/connection.ts';
import { useAnswer } from '../state/use-answer.ts';
import { AnswerNotice } from '../widgets/controls.tsx';

interface ChartsPanelProps {
  readonly connection: ServerConnection;
  readonly range: Range;
}

/** The newest interval grows, and a chart is no monitor. */
const POLL_MS = 15_000;

/** Calls, failures, cost and tokens over time: of all functions, and of each. */
export function ChartsPanel({ connection, range }: ChartsPanelProps): VNode {
  return (
    <main class="calls-scroll" id="content" tabIndex={-1} aria-label="Charts">
      <div class="list-head">
        <h1>Charts</h1>
        <span class="grow" />
        <nav class="page-links" aria-label="Time">
          {RANGE_TEXTS.map(([name, text]) => (
            <a
              key={name}
              href={fragmentOf({ page: 'charts', range: name })}
              aria-current={name === range ? 'true' : undefined}
            >
              {text}
            </a>
          ))}
        </nav>
      </div>
      <AllCharts key={range} connection={connection} range={range} />
    </main>
  );
}

function AllCharts({ connection, range }: ChartsPanelProps): VNode {
  const window = chartWindow(range, Date.now());
  const { interval, since, until } = window;
  const path = `playground/charts?since=${since}&until=${until}&interval=${interval}`;
  const [answer] = useAnswer<{ readonly series: readonly CallSeries[] }>(connection, {
    key: path,
    path: () => path,
    repeatMs: POLL_MS,
  });
  const series = (answer.value?.series ?? []).filter(({ points }) => points.length > 0);
  const byCalls = series.toSorted((a, b) => callsOf(b) - callsOf(a));
  return (
    <>
      <AnswerNotice answer={answer} missing={answer.value === undefined} />
      {answer.value !== undefined && series.length === 0 ? <p class="empty">No call ended in this time.</p> : null}
      {series.length < 2 ? null : (
        <FunctionCharts points={series.flatMap(({ points }) => points)} {...{ window, range }} />
      )}
      {byCalls.map(({ functionName, points }) => (
        <FunctionCharts key={functionName} {...{ functionName, points, window, range }} />
      ))}
    </>
  );
}

function callsOf({ points }: CallSeries): number {
  return points.reduce((sum, { calls }) => sum + calls, 0);
}

interface FunctionChartsProps {
  /** Undefined: of all functions. */
  readonly functionName?: string;
  readonly points: readonly CallPoint[];
  readonly window: ChartWindow;
  readonly range: Range;
}

function FunctionCharts({ functionName, points, window, range }: FunctionChartsProps): VNode {
  return (
    <section class="function-charts" aria-label={functionName ?? 'All functions'}>
      <h2>
        {functionName === undefined ? (
          'All functions'
        ) : (
          <a href={fragmentOf({ page: 'calls', filter: { function: functionName, range } })}>{functionName}</a>
        )}
      </h2>
      <div class="charts">
        {MEASURES.map((measure) => (
          <Chart key={measure.name} {...{ measure, points, window, range }} />
        ))}
      </div>
    </section>
  );
}

interface ChartProps {
  readonly measure: Measure;
  readonly points: readonly CallPoint[];
  readonly window: ChartWindow;
  readonly range: Range;
}

/** In units of the picture, which its style stretches. */
const BAR = { step: 10, width: 8, height: 40 };

function Chart({ measure: { name, of, text }, points, window, range }: ChartProps): VNode {
  const values = valuesOver(points, window, of);
  const heights = barHeights(values, BAR.height);
  const total = text(values.reduce((sum, value) => sum + value, 0));
  const peak = Math.max(...values);
  const timeOf = (index: number): string => timeText(window.since + index * window.interval);
  const most = peak === 0 ? '' : `${text(peak)} in ${INTERVAL_TEXTS[range]}`;
  const label =
    peak === 0 ? `${name}: none` : `${name}: ${total}, at most ${most}, from ${timeOf(values.indexOf(peak))}`;
  return (
    <figure class="chart">
      <figcaption>
        {name} <strong>{total}</strong>
      </figcaption>
      <svg
        role="img"
        aria-label={label}
        class={`chart-${name.toLowerCase()}`}
        viewBox={`0 0 ${values.length * BAR.step} ${BAR.height}`}
        preserveAspectRatio="none"
      >
        {heights.map((height, index) =>
          height === 0 ? null : (
            <rect key={index} x={index * BAR.step} y={BAR.height - height} width={BAR.width} height={height}>
              <title>{`${timeOf(index)}: ${text(values[index] ?? 0)}`}</title>
            </rect>
          ),
        )}
      </svg>
      <p class="chart-axis quiet">
        <span>{timeOf(0)}</span>
        <span>{most === '' ? '' : `peak ${most}`}</span>
      </p>
    </figure>
  );
}
