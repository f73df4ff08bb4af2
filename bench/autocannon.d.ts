/** The part of autocannon that the bench uses; the package has no types of its own. */
declare module 'autocannon' {
  export interface Options {
    readonly url: string;
    readonly method: 'POST';
    readonly body: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly connections: number;
    /** Requests in all; the run ends with the last answer. */
    readonly amount?: number;
    /** Seconds. */
    readonly duration?: number;
    /** Requests per second over all connections. */
    readonly overallRate?: number;
    /** Seconds after which one request counts as failed. */
    readonly timeout: number;
    /** Changes each request before it is sent. */
    readonly requests?: ReadonlyArray<{ readonly setupRequest: (request: object) => object }>;
  }

  export interface Histogram {
    readonly p50: number;
    readonly p99: number;
    readonly max: number;
  }

  export interface Result {
    readonly errors: number;
    readonly timeouts: number;
    readonly non2xx: number;
    /** Milliseconds. */
    readonly latency: Histogram;
    readonly requests: { readonly total: number; readonly sent: number };
    /** Seconds. */
    readonly duration: number;
  }

  export default function autocannon(options: Options): Promise<Result>;
}
