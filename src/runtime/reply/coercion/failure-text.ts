/*
 * Texts that state a failure instead of an answer: a refusal, an error of a server or a program, a pointer to another place.
 * Their numbers and words are not values.
 */

/** The characters at either end of a text that are read. */
const MAX_READ = 2000;

/** True for a text in place of an answer. A label such as `Answer:` can still introduce an answer in it. */
export function statesFailure(text: string): boolean {
  const head = text.length > MAX_READ ? text.slice(0, MAX_READ) : text;
  return FAILURES.some((pattern) => pattern.test(head));
}

const FAILURES: readonly RegExp[] = [
  // Error pages, and the status lines of HTTP.
  /<(?:!doctype|html|head|body|title)\b/iu,
  /\b(?:bad gateway|gateway time-?out|service unavailable|internal server error|too many requests)\b/iu,
  /^\W*(?:http(?:\/[\d.]+)?|error|status)\W{0,3}(?:code\W{0,2})?[45]\d\d\b/iu,
  /[([](?:http |error |status |code ){1,3}[45]\d\d\b/iu,
  // Messages of programs and services.
  /^\W*(?:(?:fatal|internal|upstream|server|api|unknown|connection|runtime|value|type) ?)?(?:error|exception|traceback)\b(?! (?:rate|count|margin|bars?|codes? (?:is|are)))\W/iu,
  /\b(?:rate limit|quota|context length|context window|token limit)\b[^.\n]{0,40}\b(?:exceeded|reached|is \d+ tokens)|\bexceeded (?:your|the) [^.\n]{0,30}(?:quota|limit|length)/iu,
  /^\W*(?:the |your |this )?(?:request|connection|operation|server|model|upstream|gateway)\b[^.\n]{0,40}\b(?:timed? ?out|overloaded|failed|unavailable|refused|aborted)\b/iu,
  /\b(?:please )?(?:try again|retry|wait)\b[^.\n]{0,20}\b(?:in|after|for|later|\d+ (?:seconds?|minutes?))\b[^.\n]{0,30}[.!]?\s*$/iu,
  // Refusals of the model.
  /^\W*(?:sorry|i['’]m (?:very |so )?sorry|i am sorry|i apologi[sz]e|unfortunately)\b[^.\n]{0,60}\b(?:can(?:no|['’])?t|can not|unable|not (?:able|available|possible)|went wrong|(?:an?|internal) (?:\w+ )?(?:error|problem)|failed)\b/iu,
  /\bI(?:['’]m| am) (?:unable|not (?:able|allowed|permitted))\b|\bI (?:cannot|can['’]?t|can not|could not|couldn['’]t|won['’]t|will not|don['’]t|do not) (?:answer|help|assist|comply|provide|determine|know|tell|see|access|open|find|classify|process)\b/iu,
  /\bas an? (?:ai|large language|language) |\b(?:as of|since) my (?:last|knowledge|training)\b|\bunable to (?:answer|determine|process|comply|provide)\b/iu,
];

const STATED = '(?:given|mentioned|specified|stated|provided|listed|disclosed|indicated|included|available|found)';
const IS = '(?:is|are|was|were|has been|have been)';
/** A clause that states what the text contains instead, which is not an estimate: `but it mentions 3 offices`. */
const ONLY_MENTIONS = String.raw`(?:(?:it|this|they|he|she|(?:the|this) \w{1,30}) )?(?:(?:only|also|does|do) )*(?:mentions?|lists?|names?|refers?|contains?|shows?)\b`;
/** `Unknown.`, `No price is given.`, `The price is not mentioned in the text.`, at the start of a text that does not estimate it then. */
const ABSENT = new RegExp(
  String.raw`^\W*(?:(?:unfortunately|sorry),? )?(?:(?:unknown|unspecified|undetermined|none|not (?:\w+ )?${STATED})\b|(?:(?:there ${IS}|(?:it|(?:the|this) \w{1,30}) (?:has|have|contains?|shows?)) )?no [^.,;:!?\n\d]{1,60} (?:${IS} )?${STATED}\b|(?:the|this|its|his|her|their) [^.,;:!?\n\d]{1,60} (?:(?:(?:is|are|was|were|has|have)(?: not|n['’]t)(?: been)?|${IS} never) (?:\w+ly )?${STATED}|(?:does|do|did)(?: not|n['’]t) (?:\w+ly )?(?:mention|state|specify|give|provide|contain|include|list|indicate|say))\b)(?![^]*\b(?:so|but(?! ${ONLY_MENTIONS})|however|therefore|thus|hence|estimat\w+|assum\w+|based on|approximately|about|roughly|default)\b)`,
  'iu',
);

/** `The text mentions 2 people, but it does not state how many came.` */
const OTHER_VALUE =
  /^\W*(?:it|(?:the|this) \w{1,30}) (?:only )?(?:mentions?|lists?|names?|refers to|contains?|describes?) [^.;!?\n]{1,80},? but (?:it )?(?:does|do|did)(?: not|n['’]t) (?:\w+ly )?(?:mention|state|specify|give|provide|indicate|say)\b(?![^]*\b(?:so|therefore|estimat\w+|assum\w+|approximately|about|roughly)\b)/iu;

/** True for a text that begins with the statement that its value is missing: its numbers are about something else. */
export function statesAbsence(text: string): boolean {
  const head = text.slice(0, MAX_READ);
  return ABSENT.test(head) || OTHER_VALUE.test(head);
}

/** A text that only refers to another place: `see page 2`, `(see section 3 for details)`. */
const POINTER =
  /^\W*(?:please )?(?:see|cf\.?|refer to|check|consult|as (?:shown|stated|described) (?:in|on)|(?:shown|given|listed|described) (?:in|on))\s+(?:also\s+)?(?:the )?(?:pages?|sections?|chapters?|figures?|fig\.|tables?|lines?|notes?|sources?|appendix|footnotes?|references?)[^.,;:\n]{0,40}\W*$/iu;

/** True for a text that states only where the answer is. */
export function pointsElsewhere(text: string): boolean {
  return text.length < MAX_POINTER && POINTER.test(text.trim());
}

const MAX_POINTER = 120;
