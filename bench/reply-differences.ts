/** `better`: svc's value fits the reply better. `arguable`: both fit. `to do`: svc's is worse. */
export type Judgement = 'better' | 'arguable' | 'to do';

interface Difference {
  readonly judgement: Judgement;
  readonly reason: string;
  readonly cases: readonly string[];
}

/** The cases of `replies/` in which svc's value is not the expected one, with the reason. */
export const DIFFERENCES: readonly Difference[] = [
  {
    judgement: 'better',
    reason: 'the string keeps the line break or text that the model wrote before the quote; the library trims it',
    cases: [205, 207, 210, 212, 214, 216, 217, 219, 221, 223].map((number) => `json_repair-${number}`),
  },
  {
    judgement: 'better',
    reason: 'the number is too large for int, which the type of the case asks for',
    cases: ['json_repair-7', 'jsonrepair-249'],
  },
  {
    judgement: 'better',
    reason: 'two different answers are refused; the library takes the last one',
    cases: ['json_repair-16'],
  },
  {
    judgement: 'better',
    reason: 'the reply is a valid JSON string, or one with a single quote inside; the library changes its text',
    cases: ['json_repair-109', 'json_repair-236'],
  },
  {
    judgement: 'better',
    reason: 'a string takes all the text up to its end; the library drops what follows the first quote or bracket',
    cases: ['json_repair-116', 'json_repair-237', 'json_repair-239', 'json_repair-240', 'json_repair-247'],
  },
  {
    judgement: 'better',
    reason: 'a required value is missing: svc refuses, the library makes up an empty one',
    cases: ['json_repair-147'],
  },
  {
    judgement: 'better',
    reason: 'dots stand for members that the model left out: svc refuses an empty value',
    cases: ['jsonrepair-321', 'jsonrepair-329'],
  },
  {
    judgement: 'arguable',
    reason: 'the reply breaks off at a string, a key or a dash: it can be the beginning of a member or not',
    cases: ['json_repair-41', 'json_repair-61', 'json_repair-95', 'partial-json-518'],
  },
  {
    judgement: 'arguable',
    reason: 'the closing quote is missing: the string can end at any comma, colon or sign, or at the bracket',
    cases: ['json_repair-178', 'json_repair-179', 'jsonrepair-286', 'jsonrepair-292', 'jsonrepair-474'],
  },
  {
    judgement: 'arguable',
    reason: 'a quote after a digit can be an inch mark',
    cases: ['json_repair-70'],
  },
  {
    judgement: 'arguable',
    reason: 'the reply has no structure to tell members from text',
    cases: ['json_repair-15', 'json_repair-132', 'json_repair-145', 'jsonrepair-514'],
  },
  {
    judgement: 'arguable',
    reason: 'svc refuses an object in a list of strings; the library drops it',
    cases: ['json_repair-40'],
  },
  {
    judgement: 'arguable',
    reason: 'the brackets after a line comment belong to it in every notation that has such comments',
    cases: ['json_repair-75'],
  },
  {
    judgement: 'to do',
    reason: 'svc refuses JSON in a string with raw quotes, or a fence in braces',
    cases: ['json_repair-203', 'jsonrepair-407'],
  },
  {
    judgement: 'arguable',
    reason: 'svc reports the loss of one of two values; the report asks for a refusal',
    cases: ['P2b', 'K1a', 'K1d', 'D7', 'K2f', '2a'],
  },
  {
    judgement: 'arguable',
    reason:
      'the words after the quote are taken as an item, as another report asks for (K3c), and the repair is reported',
    cases: ['4b'],
  },
  {
    judgement: 'arguable',
    reason: 'a missing list is empty, as in BAML; the report asks for a refusal',
    cases: ['K3a'],
  },
  {
    judgement: 'arguable',
    reason: 'the model wrote the word in quotes: it is a string',
    cases: ['O2'],
  },
  {
    judgement: 'to do',
    reason: 'svc reports a loss where the text tells the value',
    cases: ['K7i', 'A1'],
  },
];
