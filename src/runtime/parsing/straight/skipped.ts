import { misfit, type Misfit } from '../coercion/outcome.ts';
import { Plan } from '../coercion/plan.ts';
import { isJsonNumber } from '../text/bare-token.ts';
import { DOUBLE_QUOTE, OPEN_BRACKET } from '../text/characters.ts';
import { isWord } from './scalar-end.ts';
import { TypedContainer, type Place } from './typed-container.ts';

/** What stands for a value that no field takes: it has to be JSON, so that its end is sure, and nothing comes of it. */
class SkippedPlan extends Plan {
  readonly name = 'nothing';

  override exact(source: string): string | undefined {
    return source.charCodeAt(0) === DOUBLE_QUOTE || isWord(source) || isJsonNumber(source) ? source : undefined;
  }

  override openContainer(bracket: number, place: Place): TypedContainer {
    return new SkippedContainer(bracket === OPEN_BRACKET, place);
  }

  override mayBegin(): boolean {
    return true;
  }

  override showsOpen(): boolean {
    return false;
  }

  cast(): undefined {
    return undefined;
  }

  coerce(): Misfit {
    return misfit('no field takes the value');
  }
}

class SkippedContainer extends TypedContainer {
  readonly isList: boolean;

  constructor(isList: boolean, place: Place) {
    super(place);
    this.isList = isList;
  }

  next(): Plan {
    return SKIPPED;
  }

  add(): void {
    // Nothing is kept.
  }

  close(): string {
    return '';
  }

  show(): string {
    return '';
  }
}

export const SKIPPED: Plan = new SkippedPlan();
