import type { ObservedMessage } from '../base/call-observer.ts';

/** Masks credentials. */
export type Redact = (text: string) => string;

/** The characters of text in one attribute: enough for most prompts, and few enough for what receivers accept. */
const MAX_CHARACTERS = 64 * 1024;

/** A credential that begins before a cut is recognized by its part before this much text. */
const REACH = 1024;

/** Returns messages in the form of the conventions, without media and without credentials, as JSON text. */
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

/** Returns a reply in the form of the conventions as JSON text. */
export function outputMessages(text: string, finishReason: string | undefined, redact: Redact): string {
  const content = shortened(text, MAX_CHARACTERS, redact);
  return JSON.stringify([{ role: 'assistant', parts: [{ type: 'text', content }], finish_reason: finishReason }]);
}

/** Returns the arguments of a call as JSON text, which is not complete if they are long. */
export function argumentsText(args: Readonly<Record<string, unknown>>, redact: Redact): string {
  return shortened(JSON.stringify(args), MAX_CHARACTERS, redact);
}

/** Redacts before it cuts, because no search finds the part of a credential that a cut leaves. */
function shortened(text: string, limit: number, redact: Redact): string {
  const clean = redact(text.slice(0, limit + REACH));
  // Masks can be shorter than what they hide, and the end of the window can have cut a credential.
  const safe = text.length > limit + REACH ? Math.max(0, clean.length - REACH) : clean.length;
  const end = Math.min(limit, safe);
  return clean.length <= end && text.length <= limit + REACH ? clean : `${clean.slice(0, end)}…`;
}
