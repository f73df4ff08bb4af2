import { err, ok, type Result } from '../base/result.ts';
import type { CallFilter } from '../schema/kept-call.ts';

export function numberIn(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  return text !== null && /^\d{1,15}$/u.test(text) ? Number(text) : undefined;
}

/** Reads the filter in a query. The failure is a sentence. */
export function callFilter(query: URLSearchParams): Result<CallFilter, string> {
  const text = (name: string) => query.get(name) ?? undefined;
  const tag = text('tag');
  const colon = tag?.indexOf(':') ?? -1;
  if (tag !== undefined && colon < 1) return err('"tag" must have a name and a value, such as tag=customer:42.');
  for (const name of ['slow', 'since', 'until']) {
    if (query.has(name) && numberIn(query, name) === undefined)
      return err(`"${name}" must be a whole number of milliseconds.`);
  }
  const filter = {
    functionName: text('function'),
    client: text('client'),
    key: text('key'),
    requestId: text('request'),
    error: text('error'),
    lossy: query.has('lossy') ? (true as const) : undefined,
    slowMs: numberIn(query, 'slow'),
    tag: tag === undefined ? undefined : { name: tag.slice(0, colon), value: tag.slice(colon + 1) },
    text: text('text'),
    feedback: text('feedback'),
    since: numberIn(query, 'since'),
    until: numberIn(query, 'until'),
  };
  const set = Object.entries(filter).filter(([, value]) => value !== undefined && value !== '');
  return ok(Object.fromEntries(set) as CallFilter);
}
