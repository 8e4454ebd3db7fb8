/**
 * Entry `colloquy/spaces`: the plugin by which agents are members of spaces, and the types of `colloquy.spaces` and
 * `colloquy.memories`.
 */

export type {
  AgentEntity,
  Member,
  MemberRef,
  ReadMark,
  Space,
  SpaceAccess,
  SpaceMessage,
  SpaceMessageStatus,
} from '../protocol/spaces/spaces.js';
export type { SpaceEvent, ToolEvent } from '../protocol/spaces/tool-events.js';
export type { SpacePage } from '../store/ports/spaces/spaces.js';
export type { MadeCall } from './calls/membership.js';
export type { ActsAs, FollowSpace, MemberGiven, SpaceClient, SpaceHandle } from './client.js';
export type { EntityNotes, EntityPage, MemoriesOf, MemoryClient } from './memories.js';
export { INBOX, type InboxOfAgents, type WaitingEvent } from './plugin/inbox/peek.js';
export type {
  AgentMemory,
  MemoryOf,
  MemoryOptions,
  NoteName,
  NotingAgent,
} from './plugin/memory.js';
export { type SpacesPluginOptions, spacesPlugin } from './plugin/plugin.js';
export { type AgentCaller, SPACES, type SpacesOfAgents } from './plugin/port.js';
export type { AgentState, Notes } from './plugin/state.js';
export type { CreateSpace, MessagePage, ReadMessages, SendText } from './service.js';
