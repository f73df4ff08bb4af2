/** An error in the definitions, in a form for pages: texts only. Literal credentials are masked. */
export interface DefinitionProblem {
  /** `check/unknown-type`; absent if the definitions could not be read at all. */
  readonly code?: string;
  readonly message: string;
  /** What to do about it. */
  readonly help?: string;
  /** Path, line and column, such as `svc_src/resume.svc:4:9`. */
  readonly place?: string;
  /** The lines around the place, with marks. */
  readonly frame?: string;
}
