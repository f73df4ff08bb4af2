import type { VNode } from 'preact';
import type { ErrorBody } from '../server/wire.ts';

/** An error of the server: its code, its message and its details. */
export function ProblemView({ problem }: { readonly problem: ErrorBody }): VNode {
  const { details = [], error, message, request_id: requestId } = problem;
  return (
    <div class="problem" role="alert">
      <p>
        <code class="problem-code">{error}</code>
      </p>
      {details.length > 1 ? null : <p>{message}</p>}
      {details.length > 1 ? (
        <ul>
          {details.map((detail, at) => (
            <li key={at}>
              {detail.path === '' ? null : <code>{detail.path}</code>} {detail.message}
            </li>
          ))}
        </ul>
      ) : null}
      {requestId === undefined ? null : <p class="quiet small">Request {requestId}</p>}
    </div>
  );
}
