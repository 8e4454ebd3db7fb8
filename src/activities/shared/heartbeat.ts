/** Heartbeats from a timer, whatever the work itself does: they tell the server that the worker lives, and bring back cancels. */
import { Context } from '@temporalio/activity';
import { HEARTBEAT_THROTTLE_MS } from '../../protocol/limits/service-limits.js';

/**
 * Runs the work with heartbeats: every third of the heartbeat timeout, and no rarer than lets a cancel arrive within the
 * throttle. Without a heartbeat timeout there are none: nobody would miss them. `details` are for the next attempt, should this one
 * be lost; it knows the last that were sent.
 */
export async function withHeartbeat<Result>(
  work: () => Promise<Result>,
  details: () => unknown = () => undefined,
): Promise<Result> {
  const context = Context.current();
  const { heartbeatTimeoutMs } = context.info;
  if (heartbeatTimeoutMs === undefined || heartbeatTimeoutMs <= 0) return work();
  const everyMs = Math.min(heartbeatTimeoutMs / 3, HEARTBEAT_THROTTLE_MS / 2);
  const timer = setInterval(() => {
    context.heartbeat(details());
  }, everyMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
