import { foldSeparators, withoutDecoration } from './folding.ts';
import { spend } from './step-budget.ts';

/*
 * Names that a model writes almost as declared: the keys of fields, and the values of enums. A name is near to a declared
 * one if it is its British or American spelling, its singular or plural, or has a single typing error.
 */

/** Declared names, and the positions that near names have among them. Tables are created on first use. */
export class NearNames {
  readonly #names: readonly string[];
  #tables: Tables | undefined = undefined;

  constructor(names: readonly string[]) {
    this.#names = names;
  }

  /** Returns the position of the only declared name that the name is near to; -1 if there is none, or several. */
  positionOf(name: string, { plurals }: { readonly plurals: boolean }): number {
    if (name.length < 3 || name.length > LONGEST) return -1;
    spend(name.length + this.#names.length);
    const { folded, spellings, singulars } = (this.#tables ??= tablesOf(this.#names));
    const text = foldName(name);
    const near = spellings.get(americanOf(text)) ?? (plurals ? singulars.get(singularOf(name)) : undefined);
    if (near !== undefined) return near;
    const typos = folded.flatMap((declared, at) => (isTypo(text, declared) ? at : []));
    return typos.length === 1 ? (typos[0] ?? -1) : -1;
  }
}

/** No name with a typing error that is looked for is longer. */
const LONGEST = 64;

interface Tables {
  readonly folded: readonly string[];
  readonly spellings: ReadonlyMap<string, number>;
  readonly singulars: ReadonlyMap<string, number>;
}

function tablesOf(names: readonly string[]): Tables {
  const folded = names.map(foldName);
  return { folded, spellings: positionsBy(folded.map(americanOf)), singulars: positionsBy(names.map(singularOf)) };
}

/** Returns the positions by spelling: -1 for a spelling that two names have in common. */
function positionsBy(spellings: readonly string[]): ReadonlyMap<string, number> {
  const positions = new Map<string, number>();
  for (const [at, spelling] of spellings.entries()) {
    if (spelling !== '') positions.set(spelling, positions.has(spelling) ? -1 : at);
  }
  return positions;
}

function foldName(name: string): string {
  return foldSeparators(withoutDecoration(name));
}

// --- British and American spelling -----------------------------------------------------------------------------------

const BRITISH: readonly (readonly [RegExp, string])[] = [
  [/(col|fav|hon|hum|lab|neighb|behavi|harb|flav|rum|vap|arm|endeav|od)our/gu, '$1or'],
  [/is(?=e|ing|ation)/gu, 'iz'],
  [/ys(?=e|ing)/gu, 'yz'],
  [/(cent|met|lit|theat|fib|calib)re/gu, '$1er'],
  [/(catal|dial|anal|monol)ogue/gu, '$1og'],
  [/(lic|def|off)ence/gu, '$1ense'],
  [/(cance|trave|labe|mode|signa|leve|fue|tota|counse|channe|dia|fulfi|enro|insta)ll/gu, '$1l'],
  [/programme(?!d|r)/gu, 'program'],
  [/(judg|acknowledg)ement/gu, '$1ment'],
  [/(p|h|an|orthop|gyn)ae/gu, '$1e'],
  [/jewellery/gu, 'jewelry'],
  [/grey/gu, 'gray'],
  [/cheque/gu, 'check'],
  [/aluminium/gu, 'aluminum'],
];

/** Writes a folded name as Americans spell it: `favouritecolour` becomes `favoritecolor`. */
function americanOf(folded: string): string {
  let text = folded;
  for (const [british, american] of BRITISH) text = text.replace(british, american);
  return text;
}

// --- singular and plural ---------------------------------------------------------------------------------------------

const IRREGULAR: ReadonlyMap<string, string> = new Map([
  ['children', 'child'],
  ['people', 'person'],
  ['men', 'man'],
  ['women', 'woman'],
  ['indices', 'index'],
  ['indexes', 'index'],
  ['matrices', 'matrix'],
  ['vertices', 'vertex'],
  ['appendices', 'appendix'],
  ['criteria', 'criterion'],
  ['phenomena', 'phenomenon'],
  ['analyses', 'analysis'],
  ['hypotheses', 'hypothesis'],
  ['diagnoses', 'diagnosis'],
  ['theses', 'thesis'],
  ['crises', 'crisis'],
]);

/** Returns a folded name with each of its words in the singular: `LineItems` becomes `lineitem`. */
function singularOf(name: string): string {
  const words = withoutDecoration(name)
    .split(/[\s_-]+|(?<=[\p{Ll}\d])(?=\p{Lu})/u)
    .map((word) => singularWord(foldSeparators(word)));
  return americanOf(words.join(''));
}

function singularWord(word: string): string {
  const irregular = IRREGULAR.get(word);
  if (irregular !== undefined || word.length < 3) return irregular ?? word;
  if (word.length > 4 && word.endsWith('ies')) return `${word.slice(0, -3)}y`;
  if (/(?:[sx]|ch|sh)es$/u.test(word) && word.length > 4) return word.slice(0, -2).replace(/(?<=[aeiou])s$/u, 'se');
  return /[^sui]s$/u.test(word) ? word.slice(0, -1) : word;
}

// --- typing errors ---------------------------------------------------------------------------------------------------

/** A shorter name with one error is too similar to other words. */
const LEAST_TYPED = 5;

/**
 * True if two folded names differ by one typing error: two letters in the wrong order, a letter twice, or a letter that is
 * missing inside the name. A different letter is not an error, since `weight` is not `height`.
 */
function isTypo(text: string, declared: string): boolean {
  if (declared.length < LEAST_TYPED || text.length < LEAST_TYPED || Math.abs(text.length - declared.length) > 1)
    return false;
  const at = firstDifference(text, declared);
  if (at === 0 || text === declared || !isOneEdit(text, declared, at)) return false;
  // `provides` is not `providers`.
  if (declared.endsWith('rs') && text === `${declared.slice(0, -2)}s`) return false;
  return !OTHER_WORDS.some(([a, b]) => isOtherWord(text, declared, a, b) || isOtherWord(text, declared, b, a));
}

function firstDifference(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at += 1) if (a.charCodeAt(at) !== b.charCodeAt(at)) return at;
  return length;
}

function isOneEdit(text: string, declared: string, at: number): boolean {
  const [typed, meant] = [text.charAt(at), declared.charAt(at)];
  if (text.length > declared.length) {
    return isLetter(typed) && typed === text.charAt(at - 1) && text.slice(at + 1) === declared.slice(at);
  }
  if (text.length < declared.length) {
    return isLetter(meant) && at < text.length && text.slice(at) === declared.slice(at + 1);
  }
  const isSwapped = typed === declared.charAt(at + 1) && meant === text.charAt(at + 1);
  return isSwapped && isLetter(typed) && isLetter(meant) && text.slice(at + 2) === declared.slice(at + 2);
}

function isLetter(character: string): boolean {
  return /^\p{L}$/u.test(character);
}

/** True for names that differ in two words with meanings of their own. */
function isOtherWord(text: string, declared: string, typed: string, meant: string): boolean {
  return declared.includes(meant) && text === declared.replace(meant, typed);
}

/** Words that differ like a typing error, but mean something else. */
const OTHER_WORDS = wordPairs(`
  angel/angle asset/assent asset/assert band/brand based/biased beach/breach beard/bread beast/breast bend/blend
  board/broad caches/catches carton/cartoon case/cause casual/causal cause/clause char/chart coma/comma
  compiles/complies contact/contract county/country dairy/diary desert/dessert diner/dinner drive/derive
  eternal/external except/excerpt exist/exits exits/exists failed/filed father/feather field/filed fight/flight
  filed/filled form/from forth/fourth fright/freight heath/health hoisted/hosted immoral/immortal indeed/indexed
  inert/insert later/latter layer/lawyer macro/marco martial/marital misused/missed moral/mortal naive/native
  overlay/overly overly/overtly pace/place pairs/paris paren/parent parity/party patent/patient payer/player
  perform/preform phase/phrase planed/planned port/sport post/spot present/preset quiet/quite react/redact refuse/reuse
  relay/replay replay/reply retired/retried retires/retries scared/sacred seed/speed seeing/seeking selling/spelling
  sight/slight simulate/stimulate site/suite slice/splice sliver/silver stable/stale stared/starred staring/starring
  stars/starts starts/stats stated/started states/stats stating/starting stats/status steam/stream storing/string
  super/supper taking/talking there/three thorough/through though/through threat/treat timers/times tracing/tracking
  trail/trial tuned/turned tuning/turning united/untied unsent/unset word/world
`);

function wordPairs(text: string): readonly (readonly [string, string])[] {
  return text
    .trim()
    .split(/\s+/u)
    .map((pair) => {
      const [a = '', b = ''] = pair.split('/');
      return [a, b] as const;
    });
}
