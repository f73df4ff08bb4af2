import type { CallReport } from '../../../runtime/call/runtime.ts';
import type { HeaderList } from '../transport.ts';

/** What a caller is told about a call besides its value: who answered, at what cost, and where the time went. */
export function reportHeaders(report: CallReport, totalMs: number): HeaderList {
  const headers: Array<readonly [string, string]> = [];
  if (report.client !== undefined) headers.push(['x-svc-client', report.client]);
  if (report.model !== undefined) headers.push(['x-svc-model', report.model]);
  if (report.attempts.length > 0) headers.push(['x-svc-attempts', String(report.attempts.length)]);
  const { inputTokens, outputTokens } = report.usage;
  if (inputTokens !== undefined) headers.push(['x-svc-input-tokens', String(inputTokens)]);
  if (outputTokens !== undefined) headers.push(['x-svc-output-tokens', String(outputTokens)]);
  headers.push(['server-timing', `model;dur=${report.modelMs.toFixed(1)}, total;dur=${totalMs.toFixed(1)}`]);
  return headers;
}
