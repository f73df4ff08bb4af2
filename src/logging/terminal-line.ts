const COLOURS: Readonly<Record<string, number>> = { error: 31, warn: 33, info: 36, debug: 90 };

/** Fields that a reader at a terminal does not need in each line. */
const HIDDEN: ReadonlySet<string> = new Set(['level', 'time', 'msg', 'pid', 'worker']);

/** Turns a JSON log line into one for a terminal: time, level, message, then the fields. A text with several lines stays so. */
export function terminalLine(json: string, colour: boolean): string {
  const entry = parseEntry(json);
  if (entry === undefined) return json;
  const level = textOf(entry['level']);
  const time = textOf(entry['time']).slice(11, 19);
  const paint = (code: number, text: string) => (colour ? `\u001B[${String(code)}m${text}\u001B[0m` : text);
  const fields = Object.entries(entry)
    .filter(([name]) => !HIDDEN.has(name))
    .map(([name, value]) => `${paint(90, `${name}=`)}${fieldText(value)}`);
  return `${[paint(90, time), paint(COLOURS[level] ?? 0, level.padEnd(5)), textOf(entry['msg']), ...fields].join(' ')}\n`;
}

function parseEntry(json: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

function fieldText(value: unknown): string {
  if (typeof value !== 'string') return printable(JSON.stringify(value) ?? '');
  return /^[\w.:/@+-]+$/u.test(value) ? value : printable(value);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? printable(value) : '';
}

/** A reply of a model must not move the cursor or set the title of the operator's terminal. */
function printable(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what this takes out
  return text.replaceAll(/[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/gu, (character) => {
    return character === '\r' ? '' : `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
}
