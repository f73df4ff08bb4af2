import type { ObservedMessage } from '../base/call-observer.ts';

/** Masks credentials. */
export type Redact = (text: string) => string;

/** The maximum length of text in one attribute: enough for most prompts, and few enough for most receivers. */
const MAX_CHARACTERS = 64 * 1024;

/** The search for credentials sees this many characters after the cut, to recognize a credential that the cut divides. */
const REACH = 1024;

/** Returns messages as JSON text in the form of the conventions, without media and credentials. */
export function inputMessages(messages: readonly ObservedMessage[], redact: Redact): string {
  let left = MAX_CHARACTERS;
  const shown = messages.map(({ role, parts }) => ({
    role,
    parts: parts.map(({ kind, text = '', media = kind }) => {
      if (kind !== 'text') return { type: 'media', modality: media };
      const content = shortened(text, left, redact);
      left = Math.max(0, left - content.length);
      return { type: 'text', content };
    }),
  }));
  return JSON.stringify(shown);
}

/** Returns a reply as JSON text in the form of the conventions. */
export function outputMessages(text: string, finishReason: string | undefined, redact: Redact): string {
  const content = shortened(text, MAX_CHARACTERS, redact);
  return JSON.stringify([{ role: 'assistant', parts: [{ type: 'text', content }], finish_reason: finishReason }]);
}

/** Returns the arguments of a call as JSON text, cut if they are long. */
export function argumentsText(args: Readonly<Record<string, unknown>>, redact: Redact): string {
  return shortened(JSON.stringify(args), MAX_CHARACTERS, redact);
}

/** Masks credentials before the cut, because no search finds a part of a credential. */
function shortened(text: string, limit: number, redact: Redact): string {
  const clean = redact(text.slice(0, limit + REACH));
  // Masks can be shorter than what they hide, and the end of the window can have cut a credential.
  const safe = text.length > limit + REACH ? Math.max(0, clean.length - REACH) : clean.length;
  const end = Math.min(limit, safe);
  return clean.length <= end && text.length <= limit + REACH ? clean : `${clean.slice(0, end)}…`;
}
