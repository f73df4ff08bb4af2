import { tenths } from '../../../base/amounts.ts';
import { callRow } from '../../../calls/call-rows.ts';
import { requestTextOf } from '../../../logging/request-log.ts';
import type { CallReport } from '../../../runtime/call/runtime.ts';
import { isLossy } from '../../../runtime/call/losses.ts';
import type { Message, MessagePart } from '../../../schema/message.ts';
import type { CallContent } from '../../../schema/kept-call.ts';
import { attemptFields, type Problem } from '../problem.ts';
import type { RequestContext } from '../request-context.ts';
import { shortName, type EndedRequest, type RequestMask } from './answer-parts.ts';

/** Keeps a call or stream that has ended, unless it is not in the sample. `mask` hides what the request brought as a secret. */
export function keepCall(context: RequestContext, ended: EndedRequest, mask: RequestMask): void {
  const { keyName, requestId, services } = context;
  const { calls } = services;
  const { durationMs, end, functionName, kept, route, tags } = ended;
  const { problem, report, status } = end;
  if (calls === undefined || (calls.sample < 1 && Math.random() >= calls.sample)) return;
  const { usage } = report ?? {};
  const hasTags = tags !== undefined && tags.size > 0 && calls.content !== 'none';
  const row = callRow(
    {
      requestId,
      at: Date.now(),
      functionName,
      route: route === 'stream' ? 'stream' : 'call',
      program: services.programHash,
      key: keyName ?? null,
      status,
      error: problem?.code ?? null,
      lossy: report !== undefined && isLossy(report.losses),
      cache: kept?.cache ?? null,
      client: report?.client === undefined ? null : shortName(report.client),
      model: report?.model === undefined ? null : shortName(report.model),
      attempts: report?.attempts.length ?? 0,
      ms: tenths(durationMs),
      modelMs: tenths(report?.modelMs ?? 0),
      firstTextMs: report?.firstTextMs === undefined ? null : tenths(report.firstTextMs),
      inputTokens: usage?.inputTokens ?? null,
      outputTokens: usage?.outputTokens ?? null,
      cost: report?.cost ?? null,
    },
    {
      tags: hasTags ? (mask.json(JSON.stringify(Object.fromEntries(tags))) ?? '{}') : null,
      content: calls.content === 'none' ? null : contentOf(ended, calls.content, mask),
    },
  );
  calls.add(row);
}

/** The longest content of a call, in UTF-16 units. */
const MOST_CONTENT = 2 ** 20;

function contentOf(ended: EndedRequest, content: 'values' | 'all', mask: RequestMask): string {
  const text = contentText(ended, content, mask);
  if (text.length > MOST_CONTENT)
    return `{"withheld":"it has ${text.length} characters, and svc keeps ${MOST_CONTENT}"}`;
  return mask.json(text) ?? '{"withheld":"the request has more credentials than svc can mask"}';
}

/**
 * Returns the JSON text of a `CallContent`. Arguments and value are JSON text already, and go in as they are, unless the text of the arguments
 * could hide a credential (see `requestTextOf`).
 */
function contentText({ body, end }: EndedRequest, content: 'values' | 'all', mask: RequestMask): string {
  const { problem, report, responseText } = end;
  const args =
    body === undefined ? undefined : requestTextOf({ requestBody: body.value, requestText: body.text }, mask.own);
  const members = [
    ...(args === undefined || args.trim() === '' ? [] : [`"args":${args}`]),
    ...(problem === undefined && responseText !== undefined ? [`"value":${responseText}`] : []),
  ];
  const facts = content === 'all' ? factsOf(problem, report) : { message: problem?.message };
  const rest = JSON.stringify(facts).slice(1, -1);
  return `{${(rest === '' ? members : [...members, rest]).join()}}`;
}

type Kept<Members> = { readonly [Name in keyof Members]: unknown };

/** JSON leaves out what is undefined. One literal: V8 writes an object that is put together several times slower. */
function factsOf(problem: Problem | undefined, report: CallReport | undefined): Kept<CallContent> {
  const flags = report?.flags ?? [];
  return {
    message: problem?.message,
    details: problem?.fields['details'],
    prompt: report?.prompt?.map(withoutData),
    reply: report?.rawReply,
    finishReason: report?.finishReason,
    attempts: report?.attempts.map(attemptFields),
    flags: flags.length === 0 ? undefined : flags.map(({ flag, path }) => ({ flag, path })),
  };
}

/** The data of files would fill the database; those of the arguments are there already. */
function withoutData(message: Message): Message {
  if (message.parts.every(({ kind }) => kind === 'text')) return message;
  const parts = message.parts.map((part): MessagePart => {
    if (part.kind === 'text' || part.source.kind === 'url') return part;
    return { ...part, source: { ...part.source, data: '' } };
  });
  return { ...message, parts };
}
