/** The entries of a person for a call that are not sent. Kept while the page lives, for each call. */
import type { Entered, Remember } from 'colloquy/browser';
import { useCallback, useState } from 'react';

export interface Draft {
  readonly reason?: string;
  readonly entered?: Entered;
  /** The answer to a form of type `json`. */
  readonly json?: string;
  /** The arguments as they are being changed. Absent: they are not. */
  readonly edit?: Entered | undefined;
  readonly remember?: Remember | undefined;
}

const EMPTY: Draft = {};

export interface Drafts {
  readonly draftOf: (ref: string) => Draft;
  readonly setDraft: (ref: string, draft: Draft) => void;
}

/** The drafts by `ref`. */
export function useDrafts(): Drafts {
  const [drafts, setDrafts] = useState<ReadonlyMap<string, Draft>>(new Map());
  const setDraft = useCallback((ref: string, draft: Draft) => {
    setDrafts((before) => new Map([...before, [ref, draft]]));
  }, []);
  return { draftOf: (ref) => drafts.get(ref) ?? EMPTY, setDraft };
}
