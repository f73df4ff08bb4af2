/** Values of environment variables by name. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** Keywords of JSON Schema by the label and the expression of the assert for each one, with a space between. */
export type KeywordsOfAsserts = ReadonlyMap<string, Readonly<Record<string, string | number | boolean>>>;

/** The inputs of the compiler besides the files. */
export interface CompileOptions {
  /** Version of svc. The version in a `generator` block must have the same major and minor numbers. */
  readonly version: string;
  /** False skips the comparison of versions. */
  readonly versionCheck: boolean;
  /** Feature `beta`: suppresses the warnings about experimental constructs. */
  readonly beta: boolean;
  /** True if the server requires a key: the OpenAPI document then has a security scheme. */
  readonly apiKey: boolean;
  /** True if callers can have limits: the OpenAPI document then has the status 429. */
  readonly limits?: boolean;
  /**
   * Environment variables for attributes such as `@alias(env.NAME)`, read at compile time. Client options read theirs
   * at each call.
   */
  readonly variables?: Variables;
  /** The path that a gateway adds before every endpoint. The OpenAPI document uses it as the server's address. */
  readonly basePath?: string;
  /** The types come from a request: then a constraint that svc cannot read is an error. */
  readonly ofRequest?: boolean;
  /** The keywords behind asserts that come from JSON Schemas of a request. */
  readonly keywords?: KeywordsOfAsserts;
  /** The program contains the arguments of tests, for the playground. */
  readonly examples?: boolean;
  /** The server has a playground, which its OpenAPI document names for `/docs`. */
  readonly playground?: boolean;
  /** The protocols beside `/call` and `/stream`, which the OpenAPI document mentions. */
  readonly doors?: ReadonlyArray<{ readonly name: string; readonly path: string }>;
  /** Title in the OpenAPI document; `svc` by default. */
  readonly title?: string;
  /** Version in the OpenAPI document; the version of svc by default. */
  readonly apiVersion?: string;
}
