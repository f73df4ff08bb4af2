import { isJsonObject, parseJson } from '../../../base/json.ts';

/*
 * Values that a reply has in several pieces: the states of a stream, fences that continue each other, the events of a stream,
 * or the batches of a list.
 */

// --- states of a stream ----------------------------------------------------------------------------------------------

/*
 * A value that the model wrote several times, each time from its start, or that broke off and was written again.
 */

/** A reply with more starts is something else. */
const MAX_STARTS = 200;

/**
 * Returns the text with the last state only. A bracket at the start of a line begins each state; every state but the last
 * has to be a beginning of the next one, and at least one of them breaks off: whole objects are the members of a list.
 */
export function lastSnapshot(text: string): string | undefined {
  const from = text.search(/^[[{]/mu);
  if (from < 0) return undefined;
  const states = text.slice(from).split(/^(?=[[{])/mu);
  const [first = ''] = states;
  if (states.length < 2 || states.length > MAX_STARTS) return undefined;
  if (!states.every((state) => state.startsWith(first.charAt(0)))) return undefined;
  const beginnings = states.map((state) => beginningOf(state));
  const isGrowing = beginnings.every((state, at) => at === 0 || state.startsWith(beginnings[at - 1] ?? ''));
  return isGrowing && states.slice(0, -1).some(breaksOff) ? text.slice(0, from) + (states.at(-1) ?? '') : undefined;
}

/** Returns a state without its spaces, and without the marks at its end that a later state moves. */
export function beginningOf(state: string): string {
  const text = state.replaceAll(/\s+/gu, '');
  let end = text.length;
  while (end > 0 && '[]{}",…'.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** True for a text whose brackets or quotes are not closed. */
function breaksOff(state: string): boolean {
  const { depth, inString } = endOf(state);
  return depth > 0 || inString;
}

/** Returns the number of brackets that are open at the end of a text, and whether a string is. */
function endOf(state: string): { readonly depth: number; readonly inString: boolean } {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < state.length; at += 1) {
    const character = state.charAt(at);
    if (character === '\\') at += 1;
    else if (character === '"') inString = !inString;
    else if (inString) continue;
    else if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') depth -= 1;
  }
  return { depth, inString };
}

// --- fences of one value ---------------------------------------------------------------------------------------------

const FENCE = /^[ \t]*```\w*[ \t]*\n([^]*?)^[ \t]*```[ \t]*$/gmu;

/** A value in more pieces than this is something else. */
const MAX_PIECES = 20;

/**
 * Joins the fences of a value that a model wrote in several pieces: the first one leaves brackets open, and the last one closes
 * all of them. The words between the fences are left out.
 */
export function joinFences(text: string): string | undefined {
  const fences = [...text.matchAll(FENCE)];
  const [first, ...others] = fences;
  if (first === undefined || others.length === 0 || others.length >= MAX_PIECES) return undefined;
  let body = first[1] ?? '';
  if (endOf(body).depth <= 0) return undefined;
  for (const fence of others) {
    const piece = fence[1] ?? '';
    const isRest = endOf(piece).depth < 0 || /^\s*["',]/u.test(piece);
    if (!isRest) return undefined;
    body += piece;
    if (endOf(body).depth > 0) continue;
    const to = fence.index + fence[0].length;
    return `${text.slice(0, first.index)}\`\`\`\n${body}\`\`\`${text.slice(to)}`;
  }
  return undefined;
}

// --- events of a stream ----------------------------------------------------------------------------------------------

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
  if (!isEvents) return joinedParts(lines, lines.map(parseJson), true);
  if (!lines.every((line) => FIELD.test(line))) return undefined;
  const payloads = lines
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice(line.startsWith('data: ') ? 6 : 5).replace(/\r$/u, ''))
    .filter((payload) => payload !== '[DONE]');
  return joinedParts(payloads, payloads.map(parseJson), false);
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

// --- batches of a list -----------------------------------------------------------------------------------------------

/** The label of one of several parts of a list: `Page 1/2`, `**Batch 2 of 3:**`. */
const LABEL = /^[ \t>*_#-]*(?:page|batch|part|chunk|set)\s+(\d{1,3})\b(?:\s*(?:\/|of)\s*\d{1,3})?[ \t:.*_)-]*$/gimu;

/** A list in more parts is something else. */
const MAX_BATCHES = 100;

/** Joins the lists below labels that are numbered from 1: the parts of one list. Returns undefined for any other text. */
export function joinBatches(text: string): string | undefined {
  const labels = [...text.matchAll(LABEL)];
  if (labels.length < 2 || labels.length > MAX_BATCHES) return undefined;
  if (!labels.every((label, at) => Number(label[1]) === at + 1)) return undefined;
  const lists = labels.map((label, at) => itemsIn(text.slice(label.index + label[0].length, labels[at + 1]?.index)));
  return lists.includes(undefined) ? undefined : `[${lists.join(',\n')}]`;
}

/** Returns the text between the brackets of a list; undefined if the text contains none, or anything else in brackets. */
function itemsIn(text: string): string | undefined {
  const from = text.indexOf('[');
  const to = text.lastIndexOf(']');
  const isOnly = from >= 0 && to > from && !/[{}]/u.test(text.slice(0, from) + text.slice(to));
  const items = text.slice(from + 1, to).trim();
  return isOnly && items !== '' ? items.replace(/,$/u, '') : undefined;
}
