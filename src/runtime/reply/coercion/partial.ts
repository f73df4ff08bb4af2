/** What a partial shows of one value. */
export class Partial {
  /** Nothing to show yet, though the value may fit. */
  static readonly withheld = new Partial(undefined);
  /** Nothing to show: the value does not fit the type. */
  static readonly unfit = new Partial(undefined);

  /** JSON text; undefined when there is nothing to show. */
  readonly json: string | undefined;
  /** All it shows is nulls: for `@stream.not_null` that counts as nothing. */
  readonly hollow: boolean;

  constructor(json: string | undefined, hollow = false) {
    this.json = json;
    this.hollow = hollow;
  }
}
