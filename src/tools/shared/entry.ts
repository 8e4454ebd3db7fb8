/** Which entry into a tool's code a run is, as the code reads it. Runs in the worker. */
import type { CallContext } from '../../define/tool/context.js';
import type { RunToolInput } from '../../protocol/workflow/activities.js';

type EntryFields = Pick<CallContext, 'run' | 'asks' | 'state' | 'declined' | 'answeredBy'>;

export function entryFields({ run, asked }: Pick<RunToolInput, 'run' | 'asked'>): EntryFields {
  if (asked === undefined) return { run: run ?? 1, asks: 0 };
  const { asks, state, declined, actor } = asked;
  return {
    run: run ?? 1,
    asks,
    ...(state === undefined ? {} : { state }),
    ...(declined === undefined ? {} : { declined }),
    answeredBy: actor,
  };
}
