import type { CallSettings, FunctionEvent } from './function-library.ts';

/** The types of one function, as `svc types` declares them. */
export interface FunctionTypes {
  readonly args: object;
  readonly result: unknown;
  /** A snapshot of a result that still grows. */
  readonly partial: unknown;
}

/** The functions of a program with their types: names, arguments, results and partials are those of `Functions`. */
export interface TypedFunctions<Functions extends { readonly [Name in keyof Functions]: FunctionTypes }> {
  readonly functionNames: readonly (keyof Functions & string)[];
  /** As `FunctionLibrary.call`. */
  call<Name extends keyof Functions & string>(
    functionName: Name,
    args: Functions[Name]['args'],
    settings?: CallSettings,
  ): Promise<Functions[Name]['result']>;
  /** As `FunctionLibrary.stream`. */
  stream<Name extends keyof Functions & string>(
    functionName: Name,
    args: Functions[Name]['args'],
    settings?: CallSettings,
  ): AsyncIterableIterator<FunctionEvent<Functions[Name]['result'], Functions[Name]['partial']>>;
  /** As `FunctionLibrary.close`. */
  close(): Promise<void>;
}
