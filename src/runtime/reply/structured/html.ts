import { decodeEntities } from '../text/entities.ts';

/*
 * HTML as the lines that Markdown would have in its place, so that the other readings of structured text apply to it.
 */

const HAS_TAG = /<(?:br|li|dt|dd|tr|td|th|p|b|strong|h[1-6]|div)\b[^<>]{0,200}>/iu;

/** The tags and what is in their places, in this order. */
const REPLACEMENTS: readonly (readonly [RegExp, string])[] = [
  [/<!--[^]{0,2000}?-->|<\/?(?:html|body|thead|tbody|tfoot|caption|span|u|font|a|small)\b[^<>]{0,200}>/giu, ''],
  [/<\/dt>\s*<dd\b[^<>]{0,200}>/giu, ': '],
  [/<h[1-6]\b[^<>]{0,200}>\s*/giu, '\n## '],
  [/<br\s*\/?>|<\/?(?:ul|ol|dl|dt|dd|table|div|p|section|article|h[1-6])\b[^<>]{0,200}>/giu, '\n'],
  [/\s*<li\b[^<>]{0,200}>\s*/giu, '\n- '],
  [/<\/li>/giu, '\n'],
  [/<\/?(?:b|strong)>/giu, '**'],
  [/<\/?(?:em|i|code|kbd|pre)>/giu, ''],
  [/\s*<tr\b[^<>]{0,200}>\s*/giu, '\n| '],
  [/\s*<\/t[hd]>\s*(?:<t[hd]\b[^<>]{0,200}>)?/giu, ' | '],
  [/<t[hd]\b[^<>]{0,200}>|<\/tr>/giu, ''],
];

/** A string in double quotes: tags inside are its content. */
const STRING = /"(?:[^"\\\n]|\\[^\n]){0,2000}"/gu;

/** The page of a server or a proxy that reports an error; its words and numbers are not an answer. */
const ERROR_PAGE =
  /<(?:title|h1)\b[^<>]{0,200}>[^<]{0,200}\b(?:[45]\d\d|error|denied|forbidden|not found|bad gateway|unavailable|time-?out|too many)\b/iu;

/** True for a whole page of HTML that reports an error. */
export function isErrorPage(text: string): boolean {
  return /<(?:!doctype html|html)\b/iu.test(text) && ERROR_PAGE.test(text);
}

/** A heading, or a key in front of its value. */
const MARKDOWN_KEY =
  /^(?:#{1,6}\s|[ \t]{0,20}(?:(?:[-*+•]|\d{1,4}[.)])\s{1,4})?[*_`"]{0,3}[\p{L}_][\p{L}\p{N}_ -]{0,40}[*_`"]{0,3}[ \t]*[:=])/gmu;
/** The start of an element that is more than emphasis or the end of a line. */
const BLOCK_ELEMENT =
  /<(?:p|div|h[1-6]|ul|ol|li|table|section|article|header|footer|nav|form|button|input|svg|a|span|img)\b[^<>]{0,200}>/iu;
/** A key that announces HTML, and an element. */
const KEY_OF_HTML = /^[^\n:=<]{0,60}(?:html|markup|snippet|code)[^\n:=<]{0,20}[:=][\s*_`"]{0,4}<\w/imu;
/** A row of a Markdown table with an element in a cell. */
const IN_CELL = /^[ \t]*\|[^\n]{0,1000}<(?!br\b)\w/mu;

/** True for a text in which elements of HTML are values: below headings, after keys, or in the cells of a table. */
export function hasElements(text: string): boolean {
  const hasKeys = (text.match(MARKDOWN_KEY)?.length ?? 0) > 1;
  return (hasKeys && (BLOCK_ELEMENT.test(text) || KEY_OF_HTML.test(text))) || IN_CELL.test(text);
}

/** An item or key in Markdown with an inline element in its text; a `<br>` at the end of a line or before a key does not count. */
const INLINE_IN_TEXT =
  /^[ \t]{0,40}(?:(?:[-*+•]|\d{1,4}[.)])[ \t]|[*_`]{0,3}[\p{L}_][\p{L}\p{N}_ -]{0,40}[*_`]{0,3}[ \t]*:)[^\n]{0,2000}?<(?:(?:b|i|em|strong|code|kbd)>|br\s*\/?>(?!\s*(?:$|[*_`]{0,3}[\p{L}_][\p{L}\p{N}_ -]{0,40}[*_`]{0,3}[ \t]*[:=])))/mu;

/** True for items or keys in Markdown whose texts contain inline elements: the text is not HTML, and its elements are text. */
export function hasInlineElements(text: string): boolean {
  return !MARKUP_LINE.test(text) && INLINE_IN_TEXT.test(text);
}

/** A line that begins with an element. */
const MARKUP_LINE = /^[ \t]{0,40}<\w/mu;

/** Returns HTML as lines of text; undefined for a text without its tags. */
export function htmlLines(text: string): string | undefined {
  if (!HAS_TAG.test(text) || !HAS_TAG.test(text.replaceAll(STRING, '""'))) return undefined;
  let lines = text.replaceAll(HEADING_ROW, (row) => `${row}\n${RULE}\n`);
  for (const [tag, instead] of REPLACEMENTS) lines = lines.replaceAll(tag, instead);
  return decodeEntities(lines);
}

/** A row of a table with at least two cells, all of which are headings. */
const HEADING_ROW = /<tr\b[^<>]{0,200}>(?:\s*<th\b[^<>]{0,200}>[^<]{0,200}<\/th>){2,40}\s*<\/tr>/giu;
const RULE = '|---|---|';
