import { isJsonNumber } from '../text/bare-token.ts';
import { DOUBLE_QUOTE, OPEN_BRACKET } from '../text/characters.ts';
import { isWord } from './scalar-end.ts';
import { TypedContainer, type Place, type StraightPlan } from './typed-container.ts';

/** What stands for a value that no field takes: it has to be JSON, so that its end is sure, and nothing comes of it. */
class SkippedPlan implements StraightPlan {
  exact(source: string): string | undefined {
    return source.charCodeAt(0) === DOUBLE_QUOTE || isWord(source) || isJsonNumber(source) ? source : undefined;
  }

  openContainer(bracket: number, place: Place): TypedContainer {
    return new SkippedContainer(bracket === OPEN_BRACKET, place);
  }

  accepts(): boolean {
    return true;
  }

  mayBegin(): boolean {
    return true;
  }

  showText(): undefined {
    return undefined;
  }

  showsOpen(): boolean {
    return false;
  }
}

class SkippedContainer extends TypedContainer {
  readonly isList: boolean;

  constructor(isList: boolean, place: Place) {
    super(place);
    this.isList = isList;
  }

  next(): StraightPlan {
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

export const SKIPPED: StraightPlan = new SkippedPlan();
