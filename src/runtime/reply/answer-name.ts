/**
 * The names that introduce a value: those of the enums in a type, of the type's alias, or of a field for an age. A model labels the
 * value of the enum `TicketPriority` as `Ticket priority: HIGH` or `Priority - HIGH`, or states that the ticket priority is HIGH.
 */
export class AnswerName {
  readonly #names: readonly string[];
  #pattern: RegExp | undefined;

  constructor(names: readonly string[]) {
    this.#names = names;
  }

  /** Returns the labels and the beginnings of sentences that introduce a value with one of the names. */
  labelsIn(text: string): readonly RegExpExecArray[] {
    if (this.#names.length === 0) return [];
    this.#pattern ??= patternOf(this.#names);
    return [...text.matchAll(this.#pattern)];
  }
}

function patternOf(names: readonly string[]): RegExp {
  const all = names.map(wordsOf);
  const full = anyOf(all);
  const short = anyOf(all.flatMap((words) => [words, words.slice(-1), withoutKind(words)]));
  const mark = '[*_"\'`]{0,4}';
  const label = String.raw`^[ \t>*_#•"'\x60-]{0,20}(?:\d{1,3}[.)][ \t])?${mark}(?:${DETERMINER}[ \t]){0,2}${short}(?: (?:level|score|value))?${mark}`;
  const marks = String.raw`[ \t]{0,4}(?:[:=→]|->|=>|\bis\b:?)|[ \t]{1,4}[-–—](?=[ \t])|[*_ \t]{0,8}$`;
  const sentence = String.raw`${CLAUSE_START}${mark}(?:the|my|its|this|their|our) (?:${DETERMINER} )?${mark}${full}${mark}(?: (?:of|for) (?:the|this|that|your) \w{1,30}(?: \w{1,30})?)? ?(?:\b(?:is|should be|would be|must be)\b|=|→):?`;
  const setting = String.raw`\b(?:set|assign|keep|lower|raise|change|choose|select)(?:s|ed|ing)? (?:the |its |a )?(?:${DETERMINER} )?${mark}${full}${mark} (?:to|as|at|of)\b:?`;
  const inner = String.raw`${CLAUSE_START}${mark}${full}${mark}[ \t]{0,4}[:=→]`;
  return new RegExp(String.raw`${label}(?:${marks})|${sentence}|${inner}|${setting}`, 'gimu');
}

/** Words that can precede a name without changing what it refers to. */
const DETERMINER =
  '(?:the|my|final|overall|assigned|recommended|suggested|predicted|chosen|selected|determined|appropriate|correct)';
const CLAUSE_START = String.raw`(?:^[ \t>*_#-]{0,20}|[.!?:;,]\s|\b(?:so|thus|hence|therefore|then|and|that|means|conclude) )`;
/** A last word that adds nothing to a name, as in `PriorityLevel`. */
const KIND = /^(?:enum|level|label|value)$/iu;

/** Splits a name into its words: `TicketPriority`, `ticket_priority`. */
function wordsOf(name: string): readonly string[] {
  return name.split(/_|(?<=[\p{Ll}\p{N}])(?=\p{Lu})/u).filter((word) => word !== '');
}

/** Escapes the characters with a meaning in a regular expression: a request can define names that contain them. */
function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/gu, String.raw`\$&`);
}

function withoutKind(words: readonly string[]): readonly string[] {
  return words.length > 1 && KIND.test(words.at(-1) ?? '') ? words.slice(0, -1) : words;
}

function anyOf(names: readonly (readonly string[])[]): string {
  const sources = new Set(names.map((words) => words.map(escaped).join(String.raw`[ _-]?`)));
  return `(?:${[...sources].toSorted((a, b) => b.length - a.length).join('|')})`;
}
