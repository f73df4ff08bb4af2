import { unreachable } from '../../../../base/invariant.ts';
import { TemplateFault } from '../../template-fault.ts';
import type { CharacterSet } from './character-sets.ts';
import type { Assertion, PatternNode } from './pattern-node.ts';

/** One step of the automaton. `next` and `other` are indexes into the program. */
export type Instruction =
  | { readonly kind: 'set'; readonly holds: CharacterSet; readonly next: number }
  | { readonly kind: 'assertion'; readonly assertion: Assertion; readonly next: number }
  | { readonly kind: 'split'; readonly next: number; readonly other: number }
  | { readonly kind: 'match' };

/** Counted repetitions are copies: this bounds them, and with it the work for one character. */
const MAX_INSTRUCTIONS = 5000;

/** A pattern as a non-deterministic automaton (Thompson's construction). It starts at the last instruction. */
export function compilePattern(pattern: PatternNode): readonly Instruction[] {
  const program: Instruction[] = [{ kind: 'match' }];
  const start = emit(pattern, 0, program);
  add(program, { kind: 'split', next: start, other: start });
  return program;
}

/** Adds the instructions of a node that goes on at `next`; returns where it begins. */
function emit(node: PatternNode, next: number, program: Instruction[]): number {
  switch (node.kind) {
    case 'empty':
      return next;
    case 'set':
      return add(program, { kind: 'set', holds: node.holds, next });
    case 'assertion':
      return add(program, { kind: 'assertion', assertion: node.assertion, next });
    case 'sequence':
      return node.parts.reduceRight((after, part) => emit(part, after, program), next);
    case 'choice':
      return node.options
        .map((option) => emit(option, next, program))
        .reduceRight((other, start) => add(program, { kind: 'split', next: start, other }));
    case 'repeat':
      return emitRepeat(node, next, program);
    default:
      return unreachable(node);
  }
}

function emitRepeat(
  { part, min, max }: Extract<PatternNode, { readonly kind: 'repeat' }>,
  next: number,
  program: Instruction[],
): number {
  let start = next;
  if (max === Number.POSITIVE_INFINITY) start = emitLoop(part, next, program);
  else {
    for (let count = min; count < max; count += 1) {
      start = add(program, { kind: 'split', next: emit(part, start, program), other: next });
    }
  }
  for (let count = 0; count < min; count += 1) {
    const begin = emit(part, start, program);
    // Nothing to match: repeating it any further would only take time.
    if (begin === start) break;
    start = begin;
  }
  return start;
}

function emitLoop(part: PatternNode, next: number, program: Instruction[]): number {
  const loop = add(program, { kind: 'split', next, other: next });
  const body = emit(part, loop, program);
  program[loop] = { kind: 'split', next: body, other: next };
  return loop;
}

function add(program: Instruction[], instruction: Instruction): number {
  if (program.length >= MAX_INSTRUCTIONS) throw new TemplateFault('the regular expression is too large');
  return program.push(instruction) - 1;
}
