/** The activities of a conversation without Temporal: how a test conversation calls them, and how the model's fail. */
import type { InputOf, ResultOf, WorkActivity } from '../../core/work/row.js';
import type { TurnError } from '../../protocol/conversation/turns.js';

/** Each rejects with any error once `signal` has fired. */
export type LocalActivities = {
  readonly [Name in WorkActivity]: (
    input: InputOf<Name>,
    signal: AbortSignal,
  ) => Promise<ResultOf<Name>>;
};

/** The model has no answer or no summary; any other error of an activity is a bug. */
export class ModelCallLost extends Error {
  readonly failure: TurnError;

  constructor(failure: TurnError) {
    super(failure.message);
    this.failure = failure;
  }
}
