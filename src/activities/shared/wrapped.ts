/** Something done around every activity. */
import type { ConversationActivities } from '../../protocol/workflow/activities.js';

export type AnyActivity = (input: never) => Promise<unknown>;

/**
 * The same activities by the same names, each as `wrap` gives it, which must keep what they take and return: so no more than this needs to
 * look past their types.
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
