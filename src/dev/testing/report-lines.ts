import { visible } from '../../diagnostics/report-formats.ts';
import type { Message, MessagePart } from '../../schema/message.ts';
import { decimal } from '../../schema/price-list.ts';
import type { ConditionOutcome } from '../../runtime/call/test-conditions.ts';
import type { RunFailure } from '../local-runtime.ts';

/** US dollars: `$0.00021`. */
export function dollars(cost: number): string {
  return `$${decimal(cost)}`;
}

/** Why a call has no value: the message, and the details that it does not contain. */
export function failureLines({ message, details = [] }: RunFailure): readonly string[] {
  const others = details.filter((detail) => !message.endsWith(detail.message));
  return [message, ...others.map(({ path, message: why }) => `- ${path === '' ? '' : `${path}: `}${why}`)];
}

/** `@@assert(label) does not hold: this > 0` */
export function conditionText({ constraint: { level, label, source }, reason }: ConditionOutcome): string {
  const name = `@@${level}${label === undefined ? '' : `(${label})`}`;
  return `${name} ${reason === undefined ? 'does not hold' : `cannot be evaluated (${reason})`}: ${source}`;
}

/** A prompt as lines: each message begins with its role, and media is described. */
export function promptLines(prompt: readonly Message[]): readonly string[] {
  return prompt.flatMap(({ role, parts }, index) => [
    ...(index === 0 ? [] : ['']),
    `[${visible(role)}]`,
    ...parts.flatMap((part) => textLines(partText(part))),
  ]);
}

function partText(part: MessagePart): string {
  if (part.kind === 'text') return part.text;
  const { media, source } = part;
  const type = source.mediaType === undefined ? '' : `, ${source.mediaType}`;
  if (source.kind === 'url') return `<${media} ${source.url}${type}>`;
  return `<${media}${type}, ${Buffer.byteLength(source.data, 'base64')} bytes>`;
}

/** Text of a model or of a file, safe to print. */
export function textLines(text: string): readonly string[] {
  return text.split(/\r?\n/u).map(visible);
}
