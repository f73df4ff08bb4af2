import { isJsonObject } from '../../../base/json.ts';

/*
 * The events of a stream in place of the text that they carry: `data: {"choices":[{"delta":{"content":"{\"na"}}]}`, or one
 * object per line, as model servers send them.
 */

/** A line of server-sent events. */
const FIELD = /^(?:(?:data|event|id|retry):|:)/u;
/** The keys under which an event has the next part of the text. */
const PART =
  /^(?:content|text|delta|response|token|partial_json|arguments|completion|output_text|generated_text|chunk)$/u;
/** Keys that only the events of a stream have. */
const EVENT_KEYS: readonly string[] = ['done', 'delta', 'choices', 'object'];
const MAX_NESTING = 8;

/** Joins the parts of the text that the events of a stream carry; undefined if the text is not such a stream. */
export function joinEvents(text: string): string | undefined {
  const isEvents = /^\s*(?::[^\n]*\n\s*){0,9}(?:data|event|id|retry):/u.test(text);
  if (!isEvents && !/^\s*\{[^\n]*\}[ \t]*\r?\n\s*\{/u.test(text)) return undefined;
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  if (!isEvents) return joinedParts(lines, lines.map(parsed), true);
  if (!lines.every((line) => FIELD.test(line))) return undefined;
  const payloads = lines
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice(line.startsWith('data: ') ? 6 : 5).replace(/\r$/u, ''))
    .filter((payload) => payload !== '[DONE]');
  return joinedParts(payloads, payloads.map(parsed), false);
}

/** `isStrict`: the lines can also be the objects of a list. */
function joinedParts(lines: readonly string[], events: readonly unknown[], isStrict: boolean): string | undefined {
  if (events.every((event) => event === undefined)) return isStrict ? undefined : lines.join('');
  if (!events.every(isJsonObject)) return undefined;
  const parts = partsAtOnePath(events);
  if (parts.length < (isStrict ? 2 : 1)) return isStrict ? undefined : lines.join('\n');
  const isStream = events.every((event) => EVENT_KEYS.some((key) => key in event));
  const joined = parts.join('');
  return isStream || (!isStrict && lines.length > 1) || /^\s*[[{`<]/u.test(joined) ? joined : undefined;
}

/** Returns the strings at the path that most events have. */
function partsAtOnePath(events: readonly object[]): readonly string[] {
  const byPath = new Map<string, string[]>();
  for (const event of events) collect(event, '', 0, byPath);
  return [...byPath.values()].reduce<readonly string[]>((best, each) => (each.length > best.length ? each : best), []);
}

function collect(value: object, path: string, nesting: number, byPath: Map<string, string[]>): void {
  for (const [key, item] of Object.entries(value) as [string, unknown][]) {
    if (typeof item === 'string') {
      if (!PART.test(key)) continue;
      const parts = byPath.get(`${path}.${key}`) ?? [];
      if (parts.length === 0) byPath.set(`${path}.${key}`, parts);
      parts.push(item);
    } else if (typeof item === 'object' && item !== null && nesting < MAX_NESTING)
      collect(item, `${path}.${key}`, nesting + 1, byPath);
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return undefined;
  }
}
