/** Gives an activity the services of its tenant, and keeps the secrets of its code out of all that it leaves. */
import { Context } from '@temporalio/activity';
import type { ConversationKey } from '../../protocol/values/ids.js';
import type { CallScope, ScopeOwner } from '../../tools/scope/call-scope.js';
import type { ActivityTools, ScopedTools } from './deps.js';
import { failureOf, interruption, isCancelRequested, reasonOf } from './failure.js';
import { withFoundAgent } from './found-agents.js';
import { withHeartbeat } from './heartbeat.js';

type Scoped = ConversationKey & {
  readonly requester?: ScopeOwner['user'];
  readonly agent?: string;
};

/** The part of an activity's dependencies that cannot be had now. */
type Absent = 'services' | 'agent';

interface Run<Result> {
  readonly run: (tools: ScopedTools) => Promise<Result>;
  /** The outcome when the services of the tenant cannot be made, or the agent cannot be looked up. */
  readonly notReady: (reason: string, absent: Absent) => Result;
}

/**
 * Runs an activity in a scope of its own. Services that cannot be made, and an agent that cannot be looked up, are a
 * failure, which is retried.
 */
export function inScope<Result>(
  tools: ActivityTools,
  input: Scoped,
  run: (tools: ScopedTools) => Promise<Result>,
): Promise<Result> {
  const notReady = (reason: string): never => {
    throw failureOf('internal', reason, { retryable: true });
  };
  return inScopeOr(tools, input, { run, notReady });
}

export async function inScopeOr<Result>(
  tools: ActivityTools,
  { tenant, requester, agent }: Scoped,
  { run, notReady }: Run<Result>,
): Promise<Result> {
  let known: ActivityTools;
  try {
    known = await withFoundAgent(tools, { tenant, ...(agent === undefined ? {} : { agent }) });
  } catch (error) {
    if (isCancelRequested(Context.current())) throw interruption(Context.current(), 'tool_lost');
    const reason = reasonOf(error);
    tools.logger.error('agent not looked up', { tenant, agent, reason });
    return notReady(reason, 'agent');
  }
  let scope: CallScope;
  try {
    scope = await withHeartbeat(() => tools.scopes.open({ tenant, user: requester }));
  } catch (error) {
    const reason = reasonOf(error);
    tools.logger.error('services not made', { tenant, reason });
    return notReady(reason, 'services');
  }
  try {
    return scope.clean(await run(scopedTools(known, scope)));
  } catch (error) {
    throw scope.cleanError(error);
  } finally {
    scope.release();
  }
}

function scopedTools(tools: ActivityTools, scope: CallScope): ScopedTools {
  const { publish, repeat } = tools;
  return {
    ...tools,
    scope,
    // The types of the agents guarantee these services; the activities pass them on without reading them.
    services: scope.services as never,
    logger: scope.cleanLogger(tools.logger),
    publish: (key, event) => {
      publish(key, scope.clean(event));
    },
    ...(repeat === undefined
      ? {}
      : {
          repeat: (key, event) => {
            repeat(key, scope.clean(event));
          },
        }),
  };
}
