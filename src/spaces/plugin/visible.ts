/** Calls of visible tools as messages of the active space. */
import { ConversationError } from '../../client/api/errors.js';
import type {
  CalledTool,
  CallHookContext,
  CallHooks,
  SeenCall,
  SeenEnd,
} from '../../define/plugin/call-hooks.js';
import type { PluginRef } from '../../define/tool/state-access.js';
import type { Metadata, SpaceMessageStatus } from '../../protocol/spaces/spaces.js';
import { callerOf, SPACES } from './port.js';
import { endOf, isVisible, shownMetadata, showRequestId } from './shown.js';
import type { AgentState } from './state.js';
import { writerOf } from './writing.js';

/**
 * | the agent | a call of a visible tool |
 * |---|---|
 * | is in no space | is an error, and does not run |
 * | is in a space | is a message: `running`, `requires_action` while it waits for an answer, then `complete` or `error` |
 * | is no member any more | is the same error |
 */
export function visibleCalls(self: PluginRef<AgentState>): CallHooks {
  return {
    writes: (step, ctx) => writerOf(self, step, ctx),
    refuse: (tool, state) =>
      isVisible(tool) && state.getState(self).active === undefined ? outside(tool) : undefined,
    begins: async (call, ctx) => {
      if (!isVisible(call.tool)) return undefined;
      try {
        const isShown = await show(self, ctx, { call, status: 'running', metadata: {} });
        return isShown ? undefined : outside(call.tool);
      } catch (error) {
        if (ConversationError.isInstance(error) && error.code === 'unknown_space')
          return outside(call.tool);
        throw error;
      }
    },
    ends: async (call, end, ctx) => {
      if (isVisible(call.tool)) await show(self, ctx, { call, ...shownEnd(end) });
    },
  };
}

function outside({ name }: CalledTool): string {
  return `Tool "${name}" is visible but you are not in a space. Call enter_space first.`;
}

interface Shown {
  readonly status: SpaceMessageStatus;
  /** Besides tool and input. */
  readonly metadata: Metadata;
}

function shownEnd(end: SeenEnd): Shown {
  return 'asked' in end
    ? { status: 'requires_action', metadata: { waitsFor: 'elicitation' } }
    : endOf(end.envelope);
}

/** False when the agent is in no space. */
async function show(
  self: PluginRef<AgentState>,
  ctx: CallHookContext,
  { call, status, metadata }: Shown & { readonly call: SeenCall },
): Promise<boolean> {
  const { active } = ctx.getState(self);
  if (active === undefined) return false;
  const { tool, toolCallId, input } = call;
  await ctx.port(SPACES).show(callerOf(ctx), active.spaceId, {
    requestId: showRequestId(call),
    status,
    metadata: {
      ...shownMetadata({ toolName: tool.name, toolCallId, executor: tool.executor, input }),
      ...metadata,
    },
  });
  return true;
}
