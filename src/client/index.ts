/** Entry point `colloquy/client`: for applications that talk to conversations. */

export type { BatchResult, BatchVerdict, StepContinuation } from '../protocol/batch.js';
export type { ClaimVerdict } from '../protocol/claims.js';
export type { ConversationSnapshot, TurnResult } from '../protocol/conversation.js';
export type { ExtendVerdict } from '../protocol/extensions.js';
export type { FailureCode } from '../protocol/failures.js';
export type { Resolution, Verdict } from '../protocol/resolutions.js';
export type { Remember, RevokeRuleReply, Rule } from '../protocol/rules.js';
export type { AgentEntry, AgentSource } from './agents.js';
export type { BlobRange, BlobRead, BlobsPort } from './blobs.js';
export type { Duration } from './checks.js';
export { Conversation } from './conversation.js';
export { ConversationClient } from './conversation-client.js';
export type { DeletionsPort, StoredAt } from './deletions.js';
export { EngineError } from './errors.js';
export type { HoldersPort, LeaseRenewal } from './holders.js';
export type { CompressionOptions } from './payload-codec.js';
export { CompressionCodec } from './payload-codec.js';
export type {
  BeforePosition,
  ConversationPage,
  ConversationReader,
  ListedBy,
  LogCursor,
  LogPage,
  ReadPosition,
  WatchFrame,
} from './reader.js';
export type { WorkerElsewhere } from './store-identity/workers-elsewhere.js';
export type {
  BatchOutcome,
  CancelOptions,
  CancelOutcome,
  ClaimOptions,
  ClaimOutcome,
  ConversationClientOptions,
  ConversationOptions,
  DeleteOutcome,
  Delivered,
  DeliverOptions,
  EventsOptions,
  ExtendOptions,
  ExtendOutcome,
  FinalOptions,
  ListOptions,
  ProgressOptions,
  ProgressOutcome,
  QueuedMessage,
  QueuedResult,
  ResolveOptions,
  ResolveOutcome,
  ResolveTarget,
  ResultOptions,
  RevokeOptions,
  SendOptions,
  Sent,
  SnapshotOptions,
  SubscribeOptions,
  Turn,
  TurnHandle,
} from './types.js';
export { resultOfEnd, WorkflowReader } from './workflow-reader.js';
