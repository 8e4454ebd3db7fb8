/** Builds the context of a tool's code from the input of the activity that runs it. */
import { Context } from '@temporalio/activity';
import type { CallContext } from '../../define/tool/context.js';
import { portAccess } from '../../define/tool/ports.js';
import type { StateAccess } from '../../define/tool/state-access.js';
import type { AnyTool } from '../../define/tool/types.js';
import { MAX_PROGRESS_BYTES } from '../../protocol/limits/service-limits.js';
import type { Triggers } from '../../protocol/triggers/triggers.js';
import type { Json } from '../../protocol/values/json.js';
import type { RunToolInput } from '../../protocol/workflow/activities.js';
import { rerunContext } from '../../tools/shared/entry.js';
import { boundedJson, toJson } from '../../tools/shared/normalise.js';
import { StateView } from '../../tools/shared/state-view.js';
import { toolLogger, withFields } from '../../tools/shared/tool-logger.js';
import type { ActivityTools, ScopedTools, TriggerMakerCall } from '../shared/deps.js';
import { runOf } from '../shared/transcripts.js';
import { storedResultsOf } from '../transcript/stored-results.js';

export function contextOf(
  tools: ScopedTools,
  input: RunToolInput,
  run: Pick<CallContext, 'attempt' | 'progress'> & StateAccess,
): Omit<CallContext<never>, 'signal'> {
  const { agent, tenant, conversationId, turnId, step, call, idempotencyKey } = input;
  const { toolCallId, name } = call;
  const { requester, approver } = input;
  const fields = { tenant, conversationId, turnId, toolCallId, tool: name };
  const logger = withFields(tools.logger, fields);
  return {
    agent,
    tenant,
    conversationId,
    turnId,
    step,
    toolCallId,
    idempotencyKey,
    requester,
    ...(approver === undefined ? {} : { approver }),
    ...rerunContext(input),
    ...run,
    services: tools.services,
    secret: tools.scope.secret,
    connection: tools.scope.connection,
    storedResults: storedResultsOf(tools, { tenant, conversationId }),
    ...portAccess(tools.ports),
    triggers: triggersOf(tools, { agent, tenant, conversationId, requester, idempotencyKey }),
    logger: toolLogger(logger, name, { conversationId, turnId, toolCallId }),
  };
}

/** The triggers of the call's conversation. */
function triggersOf({ triggers }: ActivityTools, call: TriggerMakerCall): Triggers {
  if (triggers !== undefined) return triggers.ofCall(call);
  const absent = (): Promise<never> =>
    Promise.reject(new Error('this worker has no client for triggers'));
  return {
    ...{ create: absent, list: absent, get: absent, setNote: absent },
    ...{ pause: absent, resume: absent, remove: absent },
  };
}

/** The states of the agent's plugins, for one run of its code. @throws when they cannot be had */
export async function statesFor(
  tools: ActivityTools,
  { agent, states }: Pick<RunToolInput, 'agent' | 'states'>,
): Promise<StateView> {
  const plugins = tools.registry.agent(agent)?.plugins ?? [];
  const run = runOf(Context.current());
  return new StateView(
    plugins,
    plugins.length === 0 ? {} : await tools.states.statesOf(run, states),
  );
}

/** Drops progress after the end: code that ignored its timeout may continue to report. */
export function progressOf(
  tool: AnyTool,
  show: (payload: Json) => void,
): { report: (payload: unknown) => void; end: () => void } {
  let running = tool.streaming;
  return {
    report: (payload) => {
      if (!running) return;
      try {
        show(boundedJson(toJson(payload), MAX_PROGRESS_BYTES));
      } catch {
        // A payload that cannot become JSON loses the report, not the call.
      }
    },
    end: () => {
      running = false;
    },
  };
}
