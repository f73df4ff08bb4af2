import { foldSeparators } from './coerce/folding.ts';
import { LESS_THAN } from './text/characters.ts';
import { REPAIR, type ReplyNode } from './text/reply-node.ts';

/*
 * Models repeat the structure that a prompt asks for, with the names of types or placeholders in the place of values:
 * `{"name": "string"}`, `{"name": "<name>"}`, `{"name": "..."}`.
 */

const PLACEHOLDER =
  /^(?:an? )?(?:string|str|text|int|integer|float|number|double|decimal|bool|boolean|date(?:time)?|any|null|object|array|list|enum)(?:\[\]|\?)*(?:\s*(?:\||or\b|[;,(]).*)?$|^<[^<>]*>$|^\[[^[\]]*\]$|^\{+\w*\}+$|^(?:\.{3}|…)$|^your[ _].*$/isu;

/** The name of a type alone. */
const TYPE_NAME = /^(?:string|str|int|integer|float|number|double|bool|boolean|any)(?:\[\]|\?)*$/u;
/** Two strings with these names are not the answer. */
const STRING_TYPE = /^(?:string|str)(?:\[\])?$/u;
/** A placeholder in angle brackets: a word, or several. Tags of HTML can have attributes without values. */
const IN_ANGLES =
  /^<(?!(?:a(?= (?:href|name|id|class|target)\b)|audio|button|details|dialog|div|form|iframe|img|input|link|ol|option|script|select|span|textarea|video)\s)([\p{L}_][\p{L}\p{N}_ ,.'’()-]{0,120})>$/iu;

/** The literal of a field that decides between classes. */
const LITERAL = /^[\w.-]{1,40}$/u;

/** The value of an enum, such as `DATE`, is not the name of a type. */
const LABEL = /^[A-Z_]+$/u;

/** No more members of a value are examined: a template is short. */
const MAX_EXAMINED = 200;

/**
 * `likely`: an object or list that contains strings, all of which are the names of types or placeholders, and no number but
 * 0 or 1. `certain`: it is also not a value, because a placeholder names its own key (`{"name": "<name>"}`) or describes
 * the value in words, because several strings are `"string"`, or because the name of a type is without quotes. Beside that, an object
 * whose keys have no quotes can have literals.
 */
export type TemplateLikelihood = 'none' | 'likely' | 'certain';

export function templateIn(root: ReplyNode): TemplateLikelihood {
  const strings = new Strings();
  const open = [root];
  for (let examined = 0; examined < open.length; examined += 1) {
    const node = open[examined];
    if (node === undefined || open.length > MAX_EXAMINED) return 'none';
    const hasTypes = (node.repairs & REPAIR.unquotedKey) !== 0 && node.items.some(isBareType);
    for (const [at, item] of node.items.entries()) {
      if (!item.isScalar) open.push(item);
      else if (item.kind === 'string' || item.kind === 'bare') strings.add(item, node.keys[at] ?? '', hasTypes);
      else if (item.kind === 'number' && !/^[01](?:\.0*)?$/u.test(item.text)) return 'none';
    }
  }
  return strings.template;
}

/** The JSON text of an object or list can be a certain template: then its first string is a placeholder. */
export function mayBeTemplate(json: string): boolean {
  return IN_JSON.test(json.slice(0, MAX_START));
}

/** The JSON text of a string can be the placeholder of a template. */
export function beginsPlaceholder(json: string): boolean {
  const first = json.charCodeAt(1);
  return first === LESS_THAN || (first === SMALL_S && json.startsWith('"str'));
}

const SMALL_S = 115;

const MAX_START = 400;
const IN_JSON = /[:[,]"(?:<[\p{L}_][^<>"\\]{0,120}>|str(?:ing)?(?:\[\])?)"/u;

/** The strings of a value. */
class Strings {
  #placeholders = 0;
  #typesOfStrings = 0;
  #bareTypes = 0;
  #certain = 0;
  #literals = 0;
  #others = 0;

  /** `besideTypes`: another member of the object, whose keys have no quotes, is the name of a type without quotes. */
  add(item: ReplyNode, key: string, besideTypes: boolean): void {
    const text = item.text.trim().slice(0, 200);
    if (!PLACEHOLDER.test(text) || LABEL.test(text)) {
      if (besideTypes && item.quoted && LITERAL.test(text)) this.#literals += 1;
      else this.#others += 1;
      return;
    }
    this.#placeholders += 1;
    if (STRING_TYPE.test(text)) this.#typesOfStrings += 1;
    if (isBareType(item)) this.#bareTypes += 1;
    const inAngles = IN_ANGLES.exec(text)?.[1];
    if (inAngles !== undefined && isOwn(inAngles, key)) this.#certain += 1;
  }

  get template(): TemplateLikelihood {
    if (this.#others > 0 || this.#placeholders === 0) return 'none';
    if (this.#literals > 0) return this.#bareTypes === this.#placeholders ? 'certain' : 'none';
    const isType = this.#bareTypes > 0 || (this.#typesOfStrings > 1 && this.#typesOfStrings === this.#placeholders);
    return isType || this.#certain > 0 ? 'certain' : 'likely';
  }
}

function isBareType({ kind, quoted, text }: ReplyNode): boolean {
  return (kind === 'string' || kind === 'bare') && !quoted && TYPE_NAME.test(text.trim());
}

/** True for the name of the key, the name of a type, and several words. */
function isOwn(words: string, key: string): boolean {
  return TYPE_NAME.test(words) || /\p{L}{2} \p{L}/u.test(words) || foldSeparators(words) === foldSeparators(key);
}
