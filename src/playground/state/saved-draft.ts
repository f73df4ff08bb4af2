import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type { LinkState, RunMode } from '../data/link.ts';

/** What a reload of the tab restores. Keys and clients that the user defined are not part of it. */
export interface SavedDraft {
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

export function saveDraft(draft: SavedDraft): void {
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
