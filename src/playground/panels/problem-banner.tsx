import type { VNode } from 'preact';
import type { DefinitionProblem } from '../../schema/program.ts';

/** The errors that keep the server from serving the newest definitions, each with its lines. */
export function ProblemBanner({ problems }: { readonly problems: readonly DefinitionProblem[] }): VNode | null {
  if (problems.length === 0) return null;
  const count = problems.length === 1 ? 'an error' : `${problems.length} errors`;
  return (
    <details class="problem-banner" open>
      <summary role="alert">
        <strong>The definitions have {count}.</strong> svc keeps serving the last good ones.
      </summary>
      <ul>
        {problems.map((problem, at) => (
          <DefinitionProblemView key={at} problem={problem} />
        ))}
      </ul>
    </details>
  );
}

function DefinitionProblemView({ problem }: { readonly problem: DefinitionProblem }): VNode {
  const { code, frame, help, message, place } = problem;
  return (
    <li class="definition-problem">
      <p>
        <strong>{message}</strong> {code === undefined ? null : <code class="quiet">{code}</code>}
      </p>
      {place === undefined ? null : <code>{place}</code>}
      {frame === undefined ? null : <pre class="code-frame">{frame}</pre>}
      {help === undefined ? null : <p class="quiet">{help}</p>}
    </li>
  );
}
