/**
 * Sends heartbeats from a timer, independent of the work: they show the server that the worker is alive, and bring back
 * cancels.
 */
import { Context } from '@temporalio/activity';
import { HEARTBEAT_THROTTLE_MS } from '../../protocol/limits/service-limits.js';

/**
 * Runs the work with heartbeats: every third of the heartbeat timeout, and often enough that a cancel arrives within
 * the throttle. Without a heartbeat timeout it sends none, because the server does not expect any. `details` are for
 * the next attempt in case this one is lost; it receives the last that were sent.
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
