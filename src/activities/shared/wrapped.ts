/** Wraps every activity. */
import type { ConversationActivities } from '../../protocol/workflow/activities.js';

export type AnyActivity = (input: never) => Promise<unknown>;

/**
 * The same activities by the same names, each wrapped by `wrap`, which must keep the types of input and output. Only
 * this function needs to cast.
 */
export function wrappedActivities(
  activities: ConversationActivities,
  wrap: (name: string, run: AnyActivity) => AnyActivity,
): ConversationActivities {
  const entries = Object.entries(activities as unknown as Record<string, AnyActivity>);
  return Object.fromEntries(
    entries.map(([name, run]) => [name, wrap(name, run)]),
  ) as unknown as ConversationActivities;
}
