/** How a worker refuses a query, and how whoever asked knows it. Old and new versions meet here: never change the mark. */

/**
 * What a query fails with when its worker would have to answer it from what no history has yet, and none may ever have
 * (`worker/sdk-workarounds/query-guard.ts`). Whoever asks, asks again.
 */
export const QUERY_REFUSED =
  'colloquy: a task of this conversation is under way, ask again (query_refused); or the worker cannot read the history, and its log says why';
/** By which the refusal is known; in the text of every version. */
export const QUERY_REFUSED_MARK = '(query_refused)';
