import type { KeptCall } from '../../src/schema/kept-call.ts';

/** A call of the function `Repaired`, which returned a value. */
export function keptCall(changes: Partial<KeptCall> = {}): KeptCall {
  const seq = changes.seq ?? 1;
  return {
    seq,
    requestId: `request-${seq}`,
    at: Date.now() - 60_000,
    functionName: 'Repaired',
    route: 'call',
    program: 'an older program',
    key: null,
    status: 200,
    error: null,
    lossy: false,
    cache: null,
    client: 'Chatty',
    model: 'small-1',
    attempts: 1,
    ms: 1500,
    modelMs: 1400,
    firstTextMs: null,
    inputTokens: 12,
    outputTokens: 7,
    cost: 0.0021,
    tags: null,
    score: null,
    label: null,
    content: {
      args: { about: 'tea' },
      value: { title: 'Tea' },
      prompt: [{ role: 'user', parts: [{ kind: 'text', text: 'Rate tea.' }] }],
      reply: '{"title": "Tea"}',
      finishReason: 'stop',
      attempts: [{ client: 'Chatty', outcome: 'ok', duration_ms: 1400 }],
      flags: [{ flag: 'markdown', path: '' }],
    },
    feedback: [],
    ...changes,
  };
}
