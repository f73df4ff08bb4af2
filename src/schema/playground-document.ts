import type { DefinitionProblem, FunctionType } from './program.ts';
import type { AliasType, Type } from './type.ts';

/** Another protocol in which a server offers its functions. */
export interface DoorLink {
  readonly name: string;
  /** Without the base path. */
  readonly path: string;
}

/** The description of a program for the playground: everything that its forms need, and no prompts or credentials. */
export interface PlaygroundDocument {
  /** The hash of the program. */
  readonly program: string;
  readonly title: string;
  /** Version of svc. */
  readonly version: string;
  /** The errors in the newest definitions, which are therefore not served. */
  readonly problems: readonly DefinitionProblem[];
  /** `open`: requests can bring clients of their own; `known`: they can name the clients below; `off`: neither. */
  readonly clientRegistry: 'open' | 'known' | 'off';
  /** The protocols beside `/call` and `/stream`. */
  readonly doors: readonly DoorLink[];
  /** In the order of the definitions. */
  readonly functions: readonly PlaygroundFunction[];
  readonly classes: readonly PlaygroundClass[];
  readonly enums: readonly PlaygroundEnum[];
  /** The recursive aliases. */
  readonly aliases: readonly PlaygroundAlias[];
  readonly clients: readonly PlaygroundClient[];
  /** The providers that a client of a request can have. */
  readonly providers: readonly string[];
  readonly calls: PlaygroundCalls;
}

/** What the pages of kept calls can do. */
export type PlaygroundCalls =
  | {
      /** The texts that are kept: of each call, its arguments and value, or its prompt and reply too. */
      readonly content: 'none' | 'values' | 'all';
      /** The server can write a call to the definitions, as a test. */
      readonly canSave: boolean;
    }
  /** A sentence that states why calls are not kept. */
  | { readonly off: string };

/** Its client is the one that calls it by default. */
export type PlaygroundFunction = Omit<FunctionType, 'prompt' | 'parameters'> & {
  /** The types have no constraints. */
  readonly parameters: readonly PlaygroundField[];
};

export interface PlaygroundField {
  readonly name: string;
  readonly type: Type;
  readonly description?: string;
}

export interface PlaygroundClass {
  readonly name: string;
  readonly fields: readonly PlaygroundField[];
  readonly description?: string;
}

export interface PlaygroundEnum {
  readonly name: string;
  readonly values: ReadonlyArray<{ readonly name: string; readonly description?: string }>;
  readonly description?: string;
}

export type PlaygroundAlias = Pick<AliasType, 'name' | 'type'>;

export interface PlaygroundClient {
  readonly name: string;
  readonly provider: string;
  /** Absent if it has none, or reads it from a variable. */
  readonly model?: string;
  /** The clients that a strategy can call. */
  readonly members?: readonly string[];
  /** The variable without which its calls fail. */
  readonly missing?: string;
}
