/** While workers are being replaced, some have a tool as it was and others as it is: a check is best made by one that knows the call. */
import { Context } from '@temporalio/activity';
import { failureOf } from './failure.js';

/** Together somewhat more than a second: as long as somebody may be kept waiting for a verdict that another worker would give. */
const LEFT_TO_OTHERS = 3;

/** @throws failure definition_changed, retried, in the first tries of the activity: another worker may take it. */
export function leaveToOthers(message: string): void {
  if (Context.current().info.attempt <= LEFT_TO_OTHERS)
    throw failureOf('definition_changed', message, { retryable: true });
}
