import { isJsonObject } from '../base/json.ts';
import type { LogFields } from './logger.ts';

/** The colours of levels. */
export const LEVEL_COLOURS: Readonly<Record<string, number>> = { error: 31, warn: 33, info: 36, debug: 90 };

/** Adds a colour of the terminal to a text. */
export type PaintText = (code: number, text: string) => string;

/** Without colours, texts stay unchanged. */
export function painter(colour: boolean): PaintText {
  return (code, text) => (colour && text !== '' ? `\u001B[${String(code)}m${text}\u001B[0m` : text);
}

/** Returns the fields of a JSON log line; undefined for any other text. */
export function parseEntry(json: string): LogFields | undefined {
  try {
    const entry: unknown = JSON.parse(json);
    return isJsonObject(entry) ? entry : undefined;
  } catch {
    return undefined;
  }
}

export function fieldText(value: unknown): string {
  if (typeof value !== 'string') return printable(JSON.stringify(value) ?? '');
  return /^[\w.:/@+-]+$/u.test(value) ? value : printable(value);
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? printable(value) : '';
}

/** Escapes control characters: a model's reply must not move the cursor or set the title of the operator's terminal. */
export function printable(text: string): string {
  // oxlint-disable-next-line no-control-regex -- this escapes control characters
  return text.replaceAll(/[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/gu, (character) => {
    return character === '\r' ? '' : `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
}
