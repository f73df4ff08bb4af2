import type { Kind } from './kind.ts';
import { AROUND } from './kinds/around.ts';
import { COMMENTS } from './kinds/comments.ts';
import { CORRECTIONS } from './kinds/corrections.ts';
import { DIALECTS } from './kinds/dialects.ts';
import { FRAMES } from './kinds/frames.ts';
import { LISTS } from './kinds/lists.ts';
import { LOSSES, REFUSALS } from './kinds/losses.ts';
import { NOTATIONS } from './kinds/notations.ts';
import { NUMBERS } from './kinds/numbers.ts';
import { PROSE_BRACKETS } from './kinds/prose-brackets.ts';
import { PUNCTUATION } from './kinds/punctuation.ts';
import { RECORDS } from './kinds/records.ts';
import { SCALARS } from './kinds/scalars.ts';
import { SPELLINGS } from './kinds/spellings.ts';
import { FOREIGN_QUOTES, STATED_CORRECTIONS, STREAMS } from './kinds/streams.ts';
import { STRINGS } from './kinds/strings.ts';
import { THOUGHTS } from './kinds/thoughts.ts';
import { UNIONS } from './kinds/unions.ts';
import { VERSIONS } from './kinds/versions.ts';

/** Every kind of damage. Names are unique within a group. */
export const KINDS: readonly Kind[] = [
  ...AROUND,
  ...CORRECTIONS,
  ...PROSE_BRACKETS,
  ...THOUGHTS,
  ...STRINGS,
  ...SPELLINGS,
  ...FRAMES,
  ...PUNCTUATION,
  ...COMMENTS,
  ...DIALECTS,
  ...NUMBERS,
  ...SCALARS,
  ...UNIONS,
  ...LISTS,
  ...NOTATIONS,
  ...RECORDS,
  ...STREAMS,
  ...VERSIONS,
  ...STATED_CORRECTIONS,
  ...FOREIGN_QUOTES,
  ...LOSSES,
  ...REFUSALS,
];
