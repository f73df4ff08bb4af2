// Parses a megabyte of each hostile pattern, whole and in deltas, then exits.
import { HOSTILE_DEFINITIONS, PATTERNS } from '../../runtime/reply/hostile-patterns.ts';
import { parserOf, partialsOf } from '../../runtime/reply/parser-of.ts';

const parser = parserOf('Data', HOSTILE_DEFINITIONS);
for (const pattern of PATTERNS) {
  const reply = pattern.repeat(1_000_000 / pattern.length);
  parser.parse(reply);
  partialsOf(parser, [reply.slice(0, 500_000), reply.slice(500_000)]);
}
