/** The texts that a person has typed for a call and not sent. Kept while the page lives, for each call. */
import type { Entered } from 'colloquy/browser';
import { useCallback, useState } from 'react';

export interface Draft {
  readonly reason?: string;
  readonly entered?: Entered;
  /** The answer to a form of type `json`. */
  readonly json?: string;
}

const EMPTY: Draft = {};

/** The drafts by `ref`. */
export function useDrafts(): {
  readonly draftOf: (ref: string) => Draft;
  readonly setDraft: (ref: string, draft: Draft) => void;
} {
  const [drafts, setDrafts] = useState<ReadonlyMap<string, Draft>>(new Map());
  const setDraft = useCallback((ref: string, draft: Draft) => {
    setDrafts((before) => new Map([...before, [ref, draft]]));
  }, []);
  return { draftOf: (ref) => drafts.get(ref) ?? EMPTY, setDraft };
}
