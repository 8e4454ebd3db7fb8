/** Entry point `colloquy/client`: for applications that use conversations. */

export type { BatchResult, BatchVerdict, StepContinuation } from '../protocol/calls/batches.js';
export type { ClaimVerdict } from '../protocol/calls/claims.js';
export type { ExtendVerdict } from '../protocol/calls/extensions.js';
export type {
  PluginState,
  PluginStates,
  PluginStatesRead,
} from '../protocol/calls/plugin-state.js';
export type { Resolution, Verdict } from '../protocol/calls/resolutions.js';
export type { ToolResultEnvelope } from '../protocol/calls/results.js';
export type { Remember, RevokeRuleReply, Rule } from '../protocol/calls/rules.js';
export type { PendingCall } from '../protocol/calls/suspensions.js';
export type { ConversationSnapshot, TurnResult } from '../protocol/conversation/conversation.js';
export type { Message } from '../protocol/conversation/messages.js';
export type { FailureCode } from '../protocol/failures/failures.js';
export type { ForkOrigin } from '../protocol/forks/forks.js';
export type { ConversationsFrame } from '../protocol/log/conversations-stream.js';
export type { CanonicalEvent } from '../protocol/log/events.js';
export type { LiveEvent } from '../protocol/log/live-events.js';
export type { WorklistCounts, WorklistItem, WorklistPage } from '../protocol/log/worklist.js';
export type { Actor, StampedActor } from '../protocol/values/actors.js';
export type { Audience } from '../protocol/values/audience.js';
export type { BlobRef } from '../protocol/values/blobs.js';
export type { Duration } from '../protocol/values/durations.js';
export type {
  ListedWhatIf,
  WhatIfCancelled,
  WhatIfPage,
  WhatIfReport,
} from '../protocol/workflow/what-if.js';
export type {
  BatchOutcome,
  ClaimOptions,
  ClaimOutcome,
  ExtendOptions,
  ExtendOutcome,
  NamedCall,
  PendingTarget,
  ProgressOptions,
  ProgressOutcome,
  ResolutionOf,
  ResolveOptions,
  ResolveOutcome,
  ResolveTarget,
  StepResultOf,
} from './api/call-types.js';
export { ConversationError } from './api/errors.js';
export type {
  AgentRef,
  AnswerOfAgent,
  CancelOptions,
  CancelOutcome,
  ConversationClientOptions,
  ConversationOptions,
  DeleteOutcome,
  EventSent,
  EventsOptions,
  FinalOptions,
  Forked,
  ForkOptions,
  ListOptions,
  QueuedMessage,
  QueuedResult,
  ResultOptions,
  RevokeOptions,
  SendEventOptions,
  SendOptions,
  Sent,
  SnapshotOptions,
  SubscribeOptions,
  ToolsOfAgent,
  Turn,
  TurnFrame,
  TurnHandle,
  TurnSubscribeOptions,
  WatchListOptions,
  WorklistOptions,
} from './api/types.js';
export type { WhatIf, WhatIfListOptions, WhatIfOptions } from './api/what-if-types.js';
export { Conversation } from './conversation.js';
export { ConversationClient } from './conversation-client.js';
export type { CompressionOptions } from './payloads/payload-codec.js';
export { CompressionCodec } from './payloads/payload-codec.js';
export type { AgentEntry, AgentSource, AskedAgents } from './ports/agents.js';
export type { BlobRange, BlobRead, BlobsPort } from './ports/blobs.js';
export type { DeletionsPort, StoredAt } from './ports/deletions.js';
export type { LeaseRenewal, LeasesPort } from './ports/leases.js';
export type {
  BeforePosition,
  ConversationPage,
  ConversationReader,
  ListedBy,
  LogCursor,
  LogPage,
  ReadPosition,
  WatchFrame,
} from './ports/reader.js';
export type { NestedPendingCall } from './reading/nested-pending.js';
export { resultOfEnd, WorkflowReader } from './reading/workflow-reader.js';
export type { ConnectPolicy, TemporalSettings } from './temporal/connection.js';
export {
  connectClient,
  NamespaceUnknown,
  TemporalSettingsInvalid,
  TemporalUnreachable,
  temporalSettings,
} from './temporal/connection.js';
export type { WorkerElsewhere } from './workers/workers-elsewhere.js';
