import { useLayoutEffect, useMemo, useState } from 'preact/hooks';
import { type JsonObject, isJsonObject } from '../../base/json.ts';
import type { PlaygroundDocument, PlaygroundFunction } from '../../schema/playground-document.ts';
import { initialArguments, typesOf, type Types } from '../data/argument-values.ts';
import { OWN_CLIENT, type ClientChoice, type Keys } from '../data/run.ts';
import type { RunMode, LinkState } from '../data/link.ts';

export interface Draft {
  readonly fn: PlaygroundFunction;
  readonly types: Types;
  readonly args: JsonObject;
  readonly mode: RunMode;
  readonly client: ClientChoice;
  /** The client that runs beside the first one; undefined: no comparison. */
  readonly other: ClientChoice | undefined;
  /** Kept in memory only. */
  readonly keys: Keys;
  /** The text of the arguments is not valid, so that `args` are those before it. */
  readonly hasFault: boolean;
}

export interface DraftActions {
  readonly setArgs: (args: JsonObject) => void;
  readonly setArgsOf: (functionName: string, args: JsonObject) => void;
  readonly setMode: (mode: RunMode) => void;
  readonly setClient: (client: ClientChoice) => void;
  readonly setOther: (other: ClientChoice | undefined) => void;
  readonly setKey: (variable: string, value: string) => void;
  readonly setFault: (hasFault: boolean) => void;
}

export interface DraftStart {
  readonly saved: SavedDraft | undefined;
  readonly client?: ClientChoice;
  readonly other?: ClientChoice;
}

/** The arguments and clients for a function; if it does not exist, for the first one. Undefined if the program has no functions. */
export function useDraft(
  document: PlaygroundDocument,
  functionName: string,
  start: DraftStart,
): readonly [Draft | undefined, DraftActions] {
  const [argsOf, setArgsOf] = useState<Readonly<Record<string, JsonObject>>>(start.saved?.args ?? {});
  const [mode, setMode] = useState<RunMode>(start.saved?.mode ?? 'stream');
  const [client, setClient] = useState<ClientChoice>(start.client ?? OWN_CLIENT);
  const [other, setOther] = useState<ClientChoice | undefined>(start.other);
  const [keys, setKeys] = useState<Keys>({});
  const [hasFault, setFault] = useState(false);
  const types = useMemo(() => typesOf(document), [document]);
  const fn = document.functions.find(({ name }) => name === functionName) ?? document.functions[0];
  const known = fn === undefined || !Object.hasOwn(argsOf, fn.name) ? undefined : argsOf[fn.name];
  const args = useMemo(() => known ?? (fn === undefined ? {} : firstArguments(fn, types)), [known, fn, types]);
  // Before the next paint: a user can close the tab at any time.
  useLayoutEffect(() => saveDraft({ functionName: fn?.name ?? '', args: argsOf, mode }), [fn, argsOf, mode]);
  const setArgs = (name: string, next: JsonObject): void => setArgsOf((before) => ({ ...before, [name]: next }));
  const actions: DraftActions = {
    setArgs: (next) => fn !== undefined && setArgs(fn.name, next),
    setArgsOf: setArgs,
    setMode,
    setClient,
    setOther,
    setKey: (variable, value) => setKeys((before) => ({ ...before, [variable]: value })),
    setFault,
  };
  const draft =
    fn === undefined ? undefined : { fn, types, args, mode, other, keys, hasFault, client: existing(client, document) };
  return [draft, actions];
}

function firstArguments(fn: PlaygroundFunction, types: Types): JsonObject {
  return fn.examples[0]?.args ?? initialArguments(fn.parameters, types);
}

/** A reload can remove the client that the user selected. */
function existing(choice: ClientChoice, { clients }: PlaygroundDocument): ClientChoice {
  const isGone = choice.kind === 'named' && !clients.some(({ name }) => name === choice.name);
  return isGone ? OWN_CLIENT : choice;
}

/** What a reload of the tab restores. Keys and clients that the user defined are not part of it. */
interface SavedDraft {
  readonly functionName: string;
  /** By function. */
  readonly args: Readonly<Record<string, JsonObject>>;
  readonly mode: RunMode;
}

const NAME = 'svc-playground';

/** Media as base64 would fill the storage of the browser. */
const LARGEST = 500_000;

export function savedDraft(): SavedDraft | undefined {
  try {
    const saved: unknown = JSON.parse(sessionStorage.getItem(NAME) ?? 'null');
    return isJsonObject(saved) ? (saved as unknown as SavedDraft) : undefined;
  } catch {
    return undefined;
  }
}

function saveDraft(draft: SavedDraft): void {
  try {
    const json = JSON.stringify(draft);
    if (json.length <= LARGEST) sessionStorage.setItem(NAME, json);
  } catch {
    // Storage is off or full: a reload begins with the first example.
  }
}

/** A link replaces what this tab would restore. */
export function draftOfLink({ functionName, args, mode }: LinkState, saved: SavedDraft | undefined): SavedDraft {
  const others = saved?.args ?? {};
  return {
    functionName,
    args: args === undefined ? others : { ...others, [functionName]: args },
    mode: mode ?? saved?.mode ?? 'stream',
  };
}
