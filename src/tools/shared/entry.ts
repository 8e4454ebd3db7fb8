/** The fields of a tool's context that say which entry into its code a run is. Runs in the worker. */
import type { CallContext } from '../../define/tool/context.js';
import type { RunToolInput } from '../../protocol/workflow/activities.js';

type RerunFields = Pick<CallContext, 'run' | 'asks' | 'state' | 'declined' | 'answeredBy'>;

export function rerunContext({ run, asked }: Pick<RunToolInput, 'run' | 'asked'>): RerunFields {
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
