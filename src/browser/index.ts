/**
 * Public entry point `colloquy/browser`: a page's part of a conversation. `fetch` and standard globals only: no Node, no
 * Temporal. Every name here is public: it changes by the rules of the changelog only.
 */

// The client, its conversations, and failures of their requests.

export type { ClaimVerdict } from '../protocol/calls/claims.js';
export type { ExtendVerdict } from '../protocol/calls/extensions.js';
export type { Resolution, Verdict } from '../protocol/calls/resolutions.js';
export type { Remember, Rule } from '../protocol/calls/rules.js';
export type { LogCursor } from '../protocol/values/cursor.js';
export type { Json, JsonOf, JsonSchema } from '../protocol/values/json.js';
export {
  type BrowserClient,
  type BrowserClientOptions,
  type ConversationOptions,
  createBrowserClient,
} from './client.js';
export type {
  BrowserConversation,
  CancelledTurn,
  SendMessageOptions,
  SentMessage,
} from './conversation.js';
export type { Connection } from './net/following.js';
export { ApiError, type Problem } from './net/problem.js';
export type { Timing } from './net/waiting.js';
export type { FollowTurnOptions, TurnFrame } from './turn.js';

// The view of a conversation.

export type {
  AssistantMessageView,
  CallState,
  CallView,
  ConversationView,
  Decided,
  EndedTurn,
  EventView,
  Me,
  MessageView,
  NestedPendingView,
  PendingView,
  RefusedAnswer,
  UserMessageView,
} from './view/types.js';

// Who sends the requests. `colloquy/browser/worklist` has the worklist, `colloquy/browser/spaces` the spaces.

export type { Caller } from './caller.js';
export type { Api } from './net/api.js';

// Functions of pages.

export type { ClientTool, ClientToolContext, ClientTools, ToolSettings } from './tools/types.js';

// Forms of answers.

export { type CheckedForm, checkForm, type Entered, errorsByField } from './forms/check-form.js';
export { type Field, type FieldType, type Form, formOf, type Option } from './forms/form.js';

// For readers that follow the stream themselves: rules for live events.

export type { CanonicalEvent } from '../protocol/log/events.js';
export type { LiveEvent } from '../protocol/log/live-events.js';
export { LiveView, type StreamedAnswer, type StreamedCall } from '../protocol/log/live-view.js';
