import { foldSeparators } from './coerce/folding.ts';
import type { ReplyNode } from './text/reply-node.ts';

/** A key or a noun, a verb of identity or obligation, and the value that the key has from then on. */
const ASSIGNED =
  /([\p{L}\p{N}_$"'`*.[\] -]{1,80}?)["'`*]*(?:\s+(should|must|ought to|needs to|has to)\s+(?:actually |really |instead |rather )?(?:be|have been|read|say)\b|(?:\s+(?:is|was|are|were)|(?<=\b(?:it|that|this|he|she))['’]s)\b(?: actually| really| in fact| now)?|\s*(?:=|[:：](?!\/\/)))[\s"'`*]*(\S.*)$/iu;
/** `36, not 35`, `36 instead of 35`. */
const CONTRAST = /,? (?:(?:and |but )?not|instead of|rather than) .+$/iu;
/** `reviewed by a human` is not a value. */
const PARTICIPLE =
  /^(?:[a-z]+ly |double-?)?(?:[a-z]{2,}ed|given|taken|seen|chosen|written|made|set|read|known|shown|kept|left|put|sent|able|aware|careful|clear|fine|ok(?:ay)?|correct|right|accurate|enough)\b/u;
const CHANGE =
  /^(?:(?:please|now|also|then|so|just|and|let me|let['’]s|i['’]ll|i will|i need to|we need to|you should|i should(?: have)?)[, ]+)*(changed?|set|update|replaced?|make|correct|fix|use|swap|rename|remove|delete|drop|discard|disregard|ignore|scratch|strike|add|append|insert|include|plus)\s+(.*)$/iu;
const ADDS = /^(?:add|append|insert|include|plus)/iu;
const REMOVES = /^(?:remove|delete|drop|discard|disregard|ignore|scratch|strike)/iu;
const CONDITION = /\b(?:if|when|unless|in case|where|as needed|should you|you like)\b/iu;
/** `Lyon → Paris`, `age: 35 → 36`, `~~35~~ 36`, `s/35/36/`. */
const REWRITTEN = /^(?:(?:.*[:：]\s*)?(.+?)\s*(?:→|->|=>|⇒)\s*(.+)|~~(.+)~~\s*(.+)|s\/([^/]+)\/([^/]+)\/g?)$/u;
/** `not Lyon`, `instead of Lyon`. */
const REJECTED = /\b(?:not|instead of|rather than)\s+["'`*“]*([^,.;:!?"'`*”]+)/giu;
const WRONG_KEY = /\bwrong ([\p{L}_]+)/iu;
const IS_WRONG =
  /(?:\b(?:is|was|are|were|looks?)|['’]s) (?:quite )?(?:wrong|incorrect|off|inaccurate|mistaken|too (?:high|low|large|small))\b|(?:n['’]t|\bnot) (?:quite )?(?:right|correct|accurate)\b|\bnot belong\b|n['’]t belong\b|\bshould(?:n['’]t| not) be\b/iu;
const PRONOUN = /^(?:it|that|this|he|she|they|which)$/iu;
const ITEM = /\b(?:item|entry|element|member|value|one|answer|result|word|number)$/iu;
/** Values that occur in any sentence. */
const COMMON = /^(?:true|false|null|yes|no|none|a|an|the|it|is|in|on|of|to|and|or|text|value|\d)$/iu;
/** `the age of Alan` */
const OF = /\s+(?:of|for|above|from)\b.*$/iu;
const MAX_KEY_WORDS = 4;
/** Values beyond this number are not compared with sentences. */
const MAX_VALUES = 500;

/** The keys and scalars of a value, which the sentences after it can mention. */
export class DraftValues {
  readonly #byKey = new Map<string, string[]>();
  readonly #texts = new Set<string>();

  constructor(node: ReplyNode) {
    this.#collect(node, '');
  }

  #collect(node: ReplyNode, key: string): void {
    for (const [at, item] of node.items.entries()) {
      if (this.#texts.size > MAX_VALUES) return;
      const name = node.keys[at] === undefined ? key : foldSeparators(node.keys[at]);
      const values = this.#byKey.get(name) ?? [];
      if (values.length === 0) this.#byKey.set(name, values);
      if (!item.isScalar) this.#collect(item, name);
      else {
        values.push(item.text.trim());
        this.#texts.add(normal(item.text));
      }
    }
  }

  /** True for a sentence that gives a key another value, or changes the members. `retracted`: words of correction precede. */
  isChangedBy(sentence: string, retracted: boolean): boolean {
    if (!retracted && CONDITION.test(sentence)) return false;
    return (
      this.#isCommanded(sentence, retracted) ||
      this.#isReassigned(sentence, retracted) ||
      this.#isRewritten(sentence) ||
      this.#isRejected(sentence)
    );
  }

  /** True for a sentence that gives a key a value that it does not have. */
  isRestatedBy(sentence: string): boolean {
    const [, subject = '', , raw = ''] = ASSIGNED.exec(sentence) ?? [];
    const known = this.#valuesOf(subject);
    if (known === undefined || known.some((each) => isSame(normal(raw), normal(each)))) return false;
    return isLikeValue(raw, known);
  }

  /** True for a sentence that states a number, a name or a quotation that is not in the value. */
  isExtendedBy(sentence: string): boolean {
    if (/\b(?:also|as well|missing|forgot|missed)\b/iu.test(sentence)) return true;
    const said = sentence.matchAll(
      /["“«„`]([^"”»“`]+)["”»“`]|(?<![\p{L}\d])(\d[\d.,]*)|(?:\bis|['’]s|\bwas|\bin|\bread|\bsay)\s+(\p{Lu}[\p{L}_]+)|^(\p{Lu}[\p{L}_]+)$/gu,
    );
    return [...said].some((match) => !this.#texts.has(normal(match.slice(1).find((text) => text !== undefined) ?? '')));
  }

  #isReassigned(sentence: string, retracted: boolean): boolean {
    const [, subject = '', modal, raw = ''] = ASSIGNED.exec(sentence) ?? [];
    const known = this.#valuesOf(subject) ?? this.#othersOf(subject, modal !== undefined || retracted);
    if (known === undefined) return false;
    const contrast = CONTRAST.exec(raw)?.[0];
    const said = raw.slice(0, raw.length - (contrast?.length ?? 0));
    if (PARTICIPLE.test(raw) || known.some((each) => isSame(normal(said), normal(each)))) return false;
    if (contrast !== undefined && this.#hasValueIn(contrast)) return true;
    if (retracted && this.#valuesOf(subject) !== undefined) return true;
    return (modal !== undefined || retracted) && isLikeValue(raw, known);
  }

  /** Returns the values that a pronoun, `item`, or a value of the draft as a subject can mean. */
  #othersOf(subject: string, isMeant: boolean): readonly string[] | undefined {
    if (!isMeant) return undefined;
    if (ITEM.test(subject) || this.#isValue(subject)) return [...this.#texts];
    return PRONOUN.test(subject.trim()) ? [] : undefined;
  }

  #isCommanded(sentence: string, retracted: boolean): boolean {
    const [command, verb = '', object = ''] = CHANGE.exec(sentence) ?? [];
    if (command === undefined) return false;
    const [, target = object, value] = /^(.*?)\s+(?:to|with|by|for|into|as|=|instead of)\s+(.*)$/iu.exec(object) ?? [];
    const known = this.#valuesOf(target.replace(/\s+from\s.*$|\s+above$/iu, ''));
    if (value !== undefined && known?.some((each) => isSame(normal(value), normal(each))) === true) return false;
    if (ADDS.test(verb)) return retracted || /["“«„`]\S|\d/u.test(object) || /\bto the \w+$/iu.test(object);
    if (this.#isValue(target) || (REMOVES.test(verb) && known !== undefined)) return true;
    if (value !== undefined && (known !== undefined || this.#hasValueIn(target) || this.#isValue(value))) return true;
    if (/^make/iu.test(verb)) return /^(?:that|it) \S+$/iu.test(object) || this.#startsWithKey(object);
    return retracted && (known !== undefined || this.#hasValueIn(object));
  }

  #isRewritten(sentence: string): boolean {
    const [, ...sides] = REWRITTEN.exec(sentence) ?? [];
    const [old, other] = sides.filter((side) => side !== undefined);
    return old !== undefined && other !== undefined && this.#isValue(old) && normal(old) !== normal(other);
  }

  /** True for a sentence that states that a key or a value is wrong, or rejects a value and mentions no other. */
  #isRejected(sentence: string): boolean {
    const wrong = WRONG_KEY.exec(sentence)?.[1];
    if (wrong !== undefined && this.#byKey.has(foldSeparators(wrong))) return true;
    const [first = '', ...rest] = sentence.split(IS_WRONG);
    if (rest.length > 0 && !sentence.endsWith('?')) {
      const subject = first.trim().replace(/\s+(?:above|does|do)$/iu, '');
      if (
        this.#valuesOf(subject) !== undefined ||
        this.#isValue(subject) ||
        /^(?:that|this|it|the \w+ above)$/iu.test(subject)
      )
        return true;
    }
    return [...sentence.matchAll(REJECTED)].some(
      ([whole, value = '']) =>
        this.#isValue(value.replace(/ but .*$/iu, '')) && !this.#hasValueIn(sentence.replace(whole, ' ')),
    );
  }

  #startsWithKey(object: string): boolean {
    const words = object.replace(/^(?:the|its|his|her|their)\s+/iu, '').split(/\s+/u);
    return words.length > 1 && this.#byKey.has(foldSeparators(words[0] ?? ''));
  }

  /** Returns the values of the key that a phrase ends with; undefined if it ends with none. */
  #valuesOf(phrase: string): readonly string[] | undefined {
    const whole = phrase.replace(OF, '');
    return this.#valuesAtEnd(whole) ?? (whole === phrase ? undefined : this.#valuesAtEnd(phrase));
  }

  #valuesAtEnd(phrase: string): readonly string[] | undefined {
    const words = phrase.split(/[\s"'`*.[\]]+/u).filter((word) => word !== '');
    for (let count = Math.min(words.length, MAX_KEY_WORDS); count > 0; count -= 1) {
      const values = this.#byKey.get(foldSeparators(words.slice(-count).join('')));
      if (values !== undefined) return values;
    }
    return undefined;
  }

  #isValue(text: string): boolean {
    const value = normal(text.replace(/^(?:the|of)\s+/iu, ''));
    return value !== '' && this.#texts.has(value);
  }

  /** True for a text that contains a scalar of the value as words. */
  #hasValueIn(text: string): boolean {
    const said = ` ${wordsOf(text)} `;
    for (const value of this.#texts) {
      if (value.length > 1 && !COMMON.test(value) && said.includes(` ${wordsOf(value)} `)) return true;
    }
    return false;
  }
}

/** True for a text with the form of a value: a number, a name, a text in quotes, or a word in the place of a word. */
function isLikeValue(text: string, known: readonly string[]): boolean {
  if (/^["“«„`*]|^[+-]?\d|^\p{Lu}|^(?:true|false|null|empty)\b/u.test(text)) return true;
  return /^[\p{L}_]+\W*$/u.test(text) && known.some((each) => /^\p{Ll}[\p{L}_]*$/u.test(each));
}

function isSame(value: string, known: string): boolean {
  return value === known || (known !== '' && (value.startsWith(`${known} `) || value.startsWith(`${known},`)));
}

function wordsOf(text: string): string {
  return normal(text).replace(/[^\p{L}\p{N}_.@-]+/gu, ' ');
}

function normal(text: string): string {
  return text.toLowerCase().replace(/^[\s"'`*“”„«»~]+|[\s"'`*“”„«»~.,;!]+$/gu, '');
}
