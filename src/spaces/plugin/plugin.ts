/** `spacesPlugin`: an agent that is a member of spaces, with goals, memories and plans. */
import { definePlugin } from '../../define/define-plugin.js';
import { DOCUMENTS } from '../../define/plugin/documents.js';
import type { Plugin, PrepareContext } from '../../define/plugin/types.js';
import { INBOX, PEEK_INBOX } from './inbox/peek.js';
import {
  type MemoryOptions,
  type NotesAccess,
  notesOfConversation,
  notesOfEntity,
} from './memory.js';
import { noteTools } from './note-tools.js';
import { PLAN_TOOLS } from './plan-tools.js';
import { SPACES } from './port.js';
import { PLUGIN_ID } from './shown.js';
import { spaceTools } from './space-tools.js';
import { type AgentState, AgentStateSchema, contextOf, STATE_VERSION } from './state.js';
import { visibleCalls } from './visible.js';

export interface SpacesPluginOptions {
  /**
   * Keeps goals and memories by entity, for all of its conversations. Those that a conversation has kept before are not
   * read then. @defaultValue each conversation has its own
   */
  readonly memory?: MemoryOptions;
  /**
   * Adds the tool `peek_inbox`, for an agent whose events wait for the next turn (`inbox: {whileBusy: 'next_turn'}`): it
   * reads them whole, and takes none away. For another agent it reads the events behind the newest model call, which the
   * next call reads anyway. @defaultValue false
   */
  readonly peekInbox?: boolean;
}

/**
 * The twelve tools of an agent of spaces: `enter_space`, `leave_space`, `send_message`, `read_messages`, `skip`,
 * `set_goals`, `delete_goals`, `set_memories`, `delete_memories`, `set_plans`, `delete_plans`, `get_plans`. A tool of
 * the agent with such a name is an error of its definition. Calls of tools with `metadata: {visible: true}` are shown
 * in the space that the agent is in. Needs a worker whose event log has spaces: another one does not start.
 *
 * A call sees the space that an earlier call of the same step has entered only where the agent's calls run one after
 * the other (`settings: {toolExecution: 'sequential'}`).
 */
export function spacesPlugin({
  memory,
  peekInbox = false,
}: SpacesPluginOptions = {}): Plugin<unknown, AgentState> {
  const self = { id: PLUGIN_ID };
  const notes = memory === undefined ? notesOfConversation(self) : notesOfEntity(memory);
  return definePlugin({
    id: PLUGIN_ID,
    version: STATE_VERSION,
    state: AgentStateSchema,
    ready: (ctx) => {
      ctx.port(SPACES);
      if (peekInbox) ctx.port(INBOX);
      if (memory !== undefined && memory.store === undefined) ctx.port(DOCUMENTS);
    },
    prepare: async (ctx) => {
      await prepare(ctx, notes);
    },
    calls: visibleCalls(self),
    // Members wake the agent as often as they like.
    inboxRate: { turns: 30, per: '1 minute' },
    tools: (plugin) => [
      ...spaceTools(plugin),
      ...noteTools(notes),
      ...PLAN_TOOLS,
      ...(peekInbox ? [PEEK_INBOX] : []),
    ],
  });
}

async function prepare(ctx: PrepareContext, notes: NotesAccess): Promise<void> {
  const { state, context } = ctx;
  const { goals, memories } = await notes.read(ctx, state);
  const { active } = state.getState<AgentState>({ id: PLUGIN_ID });
  context.add(contextOf({ active, goals, memories }));
}
