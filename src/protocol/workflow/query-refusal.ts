/**
 * The refusal of a query by a worker, and how a caller recognises it. Old and new versions share the mark: never change
 * it.
 */

/**
 * Message of the failure of a query when its worker would have to answer from state that no history has yet, and none
 * may ever have (`worker/sdk-workarounds/query-guard.ts`). The caller repeats the query.
 */
export const QUERY_REFUSED =
  'colloquy: a task of this conversation is under way, ask again (query_refused); or the worker cannot read the history, and its log says why';
/** The mark of a refusal, part of the message in every version. */
export const QUERY_REFUSED_MARK = '(query_refused)';
