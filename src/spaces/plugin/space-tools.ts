/** The tools by which an agent is in spaces: `enter_space`, `leave_space`, `send_message`, `read_messages`, `skip`. */
import { z } from 'zod';
import { ConversationError } from '../../client/api/errors.js';
import { defineTool } from '../../define/define-tool.js';
import { toolError } from '../../define/tool/context.js';
import { ToolRetry } from '../../define/tool/retry.js';
import type { PluginRef } from '../../define/tool/state-access.js';
import type { Tool } from '../../define/tool/types.js';
import { MAX_SPACE_PAGE, MAX_SPACE_TEXT_BYTES } from '../../protocol/limits/service-limits.js';
import type { Metadata, SpaceMessage } from '../../protocol/spaces/spaces.js';
import { type Json, utf8Bytes } from '../../protocol/values/json.js';
import { MAX_HISTORY_BYTES } from './limits.js';
import { callerOf, SPACES } from './port.js';
import { readable } from './shown.js';
import type { AgentState } from './state.js';

/** Built-in tools are never shown in a space. */
export const HIDDEN = { visible: false } as const;

const NO_SPACE = 'You are not in a space. Call enter_space first.';
const DEFAULT_LIMIT = 50;

const limit = z
  .int()
  .min(1)
  .max(MAX_SPACE_PAGE)
  .default(DEFAULT_LIMIT)
  .describe('At most so many messages, the newest');

export function spaceTools(self: PluginRef<AgentState>): readonly Tool[] {
  return [enterSpace(self), leaveSpace(self), sendMessage(self), readMessages(self), SKIP];
}

function enterSpace(self: PluginRef<AgentState>): Tool {
  return defineTool({
    name: 'enter_space',
    description: 'Enter a space that you are a member of, and read its newest messages',
    usage:
      'Enter a space before you call send_message, or a tool whose calls are shown in the space: outside of a space these fail. You are in one space at a time, until you leave it or enter another.',
    input: z.object({ spaceId: z.string(), limit }),
    effects: 'idempotent',
    // Anyone who is a member may have written the messages.
    provenance: 'untrusted',
    metadata: HIDDEN,
    run: async ({ spaceId, limit: count }, ctx) => {
      const spaces = ctx.port(SPACES);
      const caller = callerOf(ctx);
      return await answered(async () => {
        const { name } = await spaces.get(caller, spaceId);
        const page = await spaces.messages(caller, spaceId, { limit: count });
        ctx.patchState(self, { op: 'set', path: '/active', value: { spaceId, name } });
        return {
          success: true,
          spaceId,
          name,
          ...historyOf(page.messages),
          total: page.lastPosition,
        };
      });
    },
  });
}

function leaveSpace(self: PluginRef<AgentState>): Tool {
  return defineTool({
    name: 'leave_space',
    description: 'Leave the space that you are in; you stay a member of it',
    input: z.object({}),
    effects: 'idempotent',
    metadata: HIDDEN,
    run: (_input, ctx) => {
      const { active } = ctx.getState(self);
      if (active === undefined) return toolError(NO_SPACE);
      ctx.patchState(self, { op: 'remove', path: '/active' });
      return { success: true, spaceId: active.spaceId };
    },
  });
}

function sendMessage(self: PluginRef<AgentState>): Tool {
  return defineTool({
    name: 'send_message',
    description: 'Send a message to the space that you are in: all of its members read it',
    input: z.object({ text: z.string().min(1).max(MAX_SPACE_TEXT_BYTES) }),
    effects: 'idempotent',
    metadata: HIDDEN,
    run: async ({ text }, ctx) => {
      const { active } = ctx.getState(self);
      if (active === undefined) return toolError(NO_SPACE);
      const spaces = ctx.port(SPACES);
      const message = { text, requestId: ctx.idempotencyKey };
      return await answered(async () => {
        const { id, status } = await spaces.send(callerOf(ctx), active.spaceId, message);
        return { success: true, messageId: id, status };
      });
    },
  });
}

function readMessages(self: PluginRef<AgentState>): Tool {
  return defineTool({
    name: 'read_messages',
    description: 'Read messages of a space that you are a member of, oldest first',
    input: z.object({
      spaceId: z.string().optional().describe('The space that you are in, where it is left out'),
      limit,
      offset: z.int().min(0).default(0).describe('Leaves out so many of the newest messages'),
    }),
    effects: 'none',
    provenance: 'untrusted',
    metadata: HIDDEN,
    run: async ({ spaceId: given, limit: count, offset }, ctx) => {
      const spaceId = given ?? ctx.getState(self).active?.spaceId;
      if (spaceId === undefined) return toolError(NO_SPACE);
      const spaces = ctx.port(SPACES);
      return await answered(async () => {
        const page = await spaces.messages(callerOf(ctx), spaceId, { limit: count, offset });
        return { success: true, spaceId, ...historyOf(page.messages), total: page.lastPosition };
      });
    },
  });
}

const SKIP = defineTool({
  name: 'skip',
  description: 'End this cycle at once: there is nothing to do',
  input: z.object({}),
  endsTurn: true,
  effects: 'none',
  metadata: HIDDEN,
  run: () => ({ success: true, skipped: true }),
});

/** The newest messages that fit, oldest first. `omitted`: so many older ones of the page do not. */
export function historyOf(
  messages: readonly SpaceMessage[],
  maxBytes = MAX_HISTORY_BYTES,
): { readonly messages: readonly Json[]; readonly omitted?: number } {
  const shown = messages.map(shownMessage);
  let bytes = 0;
  const cut = shown.findLastIndex((message) => {
    bytes += utf8Bytes(JSON.stringify(message)) + 1;
    return bytes > maxBytes;
  });
  return { messages: shown.slice(cut + 1), ...(cut < 0 ? {} : { omitted: cut + 1 }) };
}

/** A message as a model reads it: of a call that is shown, its tool, status, input, and output or error. */
function shownMessage({ id, author, kind, status, text, ...rest }: SpaceMessage): Json {
  const { replyTo, metadata, createdAt } = rest;
  return {
    ...{ id, author: { ...author }, createdAt },
    ...(kind === 'text' ? { text } : { tool: metadata?.['toolName'] ?? '', status }),
    ...(kind === 'text' ? {} : valuesOf(metadata)),
    ...(replyTo === undefined ? {} : { replyTo }),
  };
}

function valuesOf(metadata: Metadata = {}): Record<string, Json> {
  const values = ['input', 'output', 'error'].flatMap((name) => {
    const value = metadata[name];
    return value === undefined ? [] : [[name, readable(value)] as const];
  });
  return Object.fromEntries(values);
}

/** Refusals of the spaces are results that the model reads; after every other failure the call is tried again. */
async function answered<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (ConversationError.isInstance(error)) throw toolError(error.message);
    const reason = error instanceof Error ? error.message : String(error);
    throw new ToolRetry({ after: '1 second', message: `The spaces cannot be reached: ${reason}` });
  }
}
