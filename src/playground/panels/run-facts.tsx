import { durationText } from '../../base/amounts.ts';
import { useEffect, useState } from 'preact/hooks';
import type { VNode } from 'preact';
import { isRunning, STATE_TEXT, type Run } from '../data/run.ts';
import type { TraceAttempt } from '../server/wire.ts';

/** The state of a run, and its figures: who answered, the tokens, the times. */
export function RunFacts({ run }: { readonly run: Run }): VNode {
  const elapsed = useElapsed(run);
  const { trace } = run;
  return (
    <div class="run-facts">
      <span class={`state state-${run.state}`} role="status">
        {STATE_TEXT[run.state]}
      </span>
      <dl class="figures">
        <Figure name="client" value={clientText(run)} />
        <Figure name="total" value={durationText(trace?.total_ms ?? elapsed)} />
        <Figure name="first text" value={firstText(run)} />
        <Figure name="tokens in" value={trace?.input_tokens} />
        <Figure name="tokens out" value={trace?.output_tokens} />
        <Figure name="cost" value={trace?.cost === undefined ? undefined : dollars(trace.cost)} />
        <Figure name="partials" value={run.partials === 0 ? undefined : run.partials} />
        <Figure name="restarts" value={run.resets === 0 ? undefined : run.resets} />
        <Figure name="ended by" value={trace?.finish_reason === 'stop' ? undefined : trace?.finish_reason} />
      </dl>
    </div>
  );
}

function Figure({ name, value }: { readonly name: string; readonly value: string | number | undefined }): VNode | null {
  if (value === undefined) return null;
  return (
    <div class="figure">
      <dt>{name}</dt>
      <dd>{value}</dd>
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

/** `$12.35`, `$0.000421`. */
function dollars(cost: number): string {
  const isSmall = cost > 0 && cost < 0.1;
  const format = { style: 'currency', currency: 'USD', ...(isSmall && { maximumSignificantDigits: 3 }) } as const;
  return new Intl.NumberFormat('en-US', format).format(cost);
}

const TICK_MS = 100;

/** The milliseconds since the start of a run, while it runs. */
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

/** Every attempt of a run, if there was more than one: the failure of the only one is that of the run. */
export function Attempts({ run }: { readonly run: Run }): VNode | null {
  const attempts = run.trace?.attempts ?? [];
  if (attempts.length < 2) return null;
  return (
    <section class="attempts" aria-label="Attempts">
      <h3>Attempts</h3>
      <ol>
        {attempts.map((attempt, at) => (
          <Attempt key={at} attempt={attempt} />
        ))}
      </ol>
    </section>
  );
}

function Attempt({ attempt }: { readonly attempt: TraceAttempt }): VNode {
  const { client, duration_ms: ms, message, outcome, reask, upstream_status: status } = attempt;
  return (
    <li>
      <span class={outcome === 'ok' ? 'chip check-passed' : 'chip check-failed'}>{outcome}</span> {client}
      {reask === true ? ', re-ask' : ''}
      {status === undefined ? '' : `, status ${status}`}, {durationText(ms)}
      {message === undefined ? null : <p class="quiet">{message}</p>}
    </li>
  );
}
