import { percentDecoded } from '../../../base/percent-encoding.ts';
import type { ReplyNode } from '../text/reply-node.ts';
import { listOf, objectOf, valueOf } from './make-node.ts';

/*
 * Several keys with values on one line: `name: Ada; age: 36`, `Name: Ada | Age: 36`, `name=Ada age=36`, `--name Ada --age 36`,
 * `name=Ada&age=36`. Each line is an object.
 */

type Pair = readonly [key: string, value: string];

/** A way to write pairs on one line. */
interface Notation {
  /** The text between two pairs. The next key and its mark follow, so that the value before can contain the same text. */
  readonly between: RegExp;
  readonly pair: RegExp;
  readonly decode?: (text: string) => string;
}

const NAME = String.raw`[\p{L}_$@][\p{L}\p{N}_.[\]-]{0,60}`;
const WORDS = String.raw`(?:\*\*|__|["'\x60])?[\p{L}_$@][\p{L}\p{N}_./[\]-]{0,40}(?:[ ]\(?[\p{L}\p{N}_./-]{1,40}\)?){0,2}(?:\*\*|__|["'\x60])?`;
const MARK = String.raw`\s*(?::(?!\/\/|:)|=(?!=)|->|→)(?:\*\*|__)?\s*`;
const PAIR = new RegExp(String.raw`^(${WORDS})${MARK}(.*)$`, 'su');

function separatedBy(mark: string): Notation {
  return { between: new RegExp(String.raw`\s*${mark}\s*(?=${WORDS}${MARK})`, 'gu'), pair: PAIR };
}

const NOTATIONS: readonly Notation[] = [
  { between: /&(?=[\w.[\]%-]{1,80}=)/gu, pair: /^\??([\w.[\]%-]{1,80})=([^\s&]*)$/u, decode: fromUrl },
  { between: /\s+(?=--?[A-Za-z][\w-]*(?:=|\s))/gu, pair: /^--?([A-Za-z][\w-]{0,60})(?:=|\s+)(.*)$/su },
  { between: new RegExp(String.raw`\s+(?=${NAME}=)`, 'gu'), pair: new RegExp(`^(${NAME})=(.*)$`, 'su') },
  separatedBy(';'),
  separatedBy(String.raw`\|`),
  separatedBy('[·•‧∙]'),
  separatedBy(String.raw`\s\/\s`),
  separatedBy(','),
];

/** Returns the readings of the lines with several pairs each: one object for each line, or the only one. */
export function pairValues(text: string): readonly ReplyNode[] {
  // The options of a command can be on several lines.
  const isCommand = /^\s*--?[A-Za-z]/u.test(text) && !/\n(?!\s*(?:-|$))/u.test(text);
  const lines = isCommand ? [text.replaceAll(/\s*\\?\n/gu, ' ')] : text.split('\n');
  const runs = NOTATIONS.flatMap((notation) => {
    const objects = longestRun(lines, notation);
    const [first] = objects;
    if (first === undefined) return [];
    return objects.length === 1 ? [first, listOf(objects)] : [listOf(objects)];
  });
  return [...statedValues(text), ...runs];
}

/** `The \`name\` is **Ada**`: a sentence with the key as code and the value in bold, as code or in quotes. */
const STATED_KEY = String.raw`\x60([\p{L}_$][\p{L}\p{N}_$ .-]{0,60})\x60\s*(?:is|are|was|equals|[=:])\s*`;
const STATED = new RegExp(String.raw`${STATED_KEY}(\*\*[^\n]+?\*\*|\x60[^\x60\n]+\x60|"[^"\n]*")(?=[\s,.;]|$)`, 'gu');
const STATED_KEYS = new RegExp(STATED_KEY, 'gu');

/** Returns the object whose members sentences state; none if there is only one, a key occurs twice, or a value has no marks. */
function statedValues(text: string): readonly ReplyNode[] {
  const pairs = [...text.matchAll(STATED)].map(([, key = '', value = '']) => [key, valueOf(value)] as const);
  const isWhole = pairs.length === (text.match(STATED_KEYS)?.length ?? 0);
  const isObject = isWhole && pairs.length > 1 && new Set(pairs.map(([key]) => key)).size === pairs.length;
  return isObject ? [objectOf(pairs)] : [];
}

/** Lines longer than this are prose. */
const MAX_LINE = 10_000;

/** Returns the objects of the longest run of lines that all consist of pairs. */
function longestRun(lines: readonly string[], notation: Notation): readonly ReplyNode[] {
  let best: ReplyNode[] = [];
  let run: ReplyNode[] = [];
  for (const line of lines) {
    const text = line.replace(AROUND_LINE, '');
    if (text === '' || text.startsWith('```')) continue;
    const inner = DISPLAYED.exec(text)?.[1] ?? text;
    const object = text.length > MAX_LINE ? undefined : lineObject(inner, notation);
    if (object === undefined) run = [];
    else if (run.push(object) > best.length) best = run;
  }
  return best;
}

/** The display of an object in Java or Kotlin, without brackets inside: `Person[name=Ada, age=36]`. */
const DISPLAYED = /^[A-Za-z_]\w{0,60}[[({]([^[\](){}]*)[\])}]$/u;

/** The bullet or number of a list, and the marks at the end of a line. */
const AROUND_LINE = /^\s*(?:(?:[-*+•](?!-)|\d{1,4}[.)])\s+)?(?:\|\s)?|[\s;|]+$/gu;

function lineObject(line: string, { between, pair, decode }: Notation): ReplyNode | undefined {
  const pieces = line.split(between);
  if (pieces.length < 2) return undefined;
  const pairs = pieces.map((piece) => pairOf(piece.trim(), pair));
  const keys = new Set(pairs.map((each) => each?.[0]));
  if (keys.has(undefined) || keys.size < pairs.length) return undefined;
  return objectOf(pairs.flatMap((each) => (each === undefined ? [] : [memberOf(each, decode)])));
}

function pairOf(piece: string, pattern: RegExp): Pair | undefined {
  const [, key, value] = pattern.exec(piece) ?? [];
  return key === undefined || value === undefined ? undefined : [key, value];
}

function memberOf([key, value]: Pair, decode: Notation['decode']): readonly [string, ReplyNode] {
  if (decode !== undefined) return [decode(key), valueOf(decode(value))];
  return [key.replaceAll(/^(?:\*\*|__|["'`])|(?:\*\*|__|["'`])$/gu, ''), valueOf(value.replace(/[.;,]$/u, ''))];
}

function fromUrl(text: string): string {
  return percentDecoded(text.replaceAll('+', ' ')) ?? text;
}
