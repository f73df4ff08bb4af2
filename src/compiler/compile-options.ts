export type Variables = Readonly<Record<string, string | undefined>>;

/** What compiling depends on besides the files. */
export interface CompileOptions {
  /** Version of this program, which `generator` blocks have to agree with in major and minor. */
  readonly version: string;
  readonly versionCheck: boolean;
  /** Feature `beta`: warnings about experimental constructs stay silent. */
  readonly beta: boolean;
  /** The server asks for a key, so the OpenAPI document has a security scheme. */
  readonly apiKey: boolean;
  /** Environment variables that attributes name, as in `@alias(env.NAME)`: read now, while the values of clients are read at each call. */
  readonly variables?: Variables;
  /** The path before every endpoint, where a gateway adds one: the server's address in the OpenAPI document. */
  readonly basePath?: string;
}
