/** The options that each call of the client knows. Any other name is refused: a misspelt one would be lost silently. */
import type { TriggerCreation } from '../../protocol/triggers/triggers.js';
import { type FieldsOf, unknownField } from '../../protocol/values/field-problem.js';
import { isRecord } from '../../protocol/values/json.js';
import type { BlobRange } from '../ports/blobs.js';
import type { ClaimOptions, ExtendOptions, ProgressOptions, ResolveOptions } from './call-types.js';
import { invalidField } from './errors.js';
import type {
  CancelOptions,
  ConversationClientOptions,
  ConversationOptions,
  EventsOptions,
  FinalOptions,
  ForkOptions,
  ListOptions,
  ResultOptions,
  RevokeOptions,
  SendEventOptions,
  SendOptions,
  SnapshotOptions,
  SubscribeOptions,
  TurnSubscribeOptions,
  WatchListOptions,
  WorklistOptions,
} from './types.js';
import type { WhatIfListOptions, WhatIfOptions } from './what-if-types.js';

interface OptionsOf {
  readonly agents: Pick<ConversationOptions, 'tenant'>;
  readonly blob: BlobRange;
  readonly cancel: CancelOptions;
  readonly claim: ClaimOptions;
  readonly close: Pick<SendOptions, 'actor'>;
  readonly conversation: ConversationOptions;
  readonly deleteConversation: Pick<ConversationOptions, 'tenant'>;
  readonly deleteTenant: { readonly onDeleted?: unknown };
  readonly events: EventsOptions;
  readonly extend: ExtendOptions;
  readonly final: FinalOptions;
  readonly fork: ForkOptions;
  readonly list: ListOptions;
  readonly modelCall: { readonly generation?: number };
  readonly pending: { readonly nested?: boolean };
  readonly progress: ProgressOptions;
  readonly resolve: ResolveOptions;
  readonly resolveBatch: Omit<ResolveOptions, 'argsDigest'>;
  readonly result: ResultOptions;
  readonly revokeRule: RevokeOptions;
  readonly send: SendOptions;
  readonly sendEvent: SendEventOptions;
  readonly snapshot: SnapshotOptions;
  readonly subscribe: SubscribeOptions;
  readonly createTrigger: TriggerCreation;
  readonly triggers: Pick<SendOptions, 'actor'>;
  readonly turnSubscribe: TurnSubscribeOptions;
  readonly watchList: WatchListOptions;
  readonly whatIf: WhatIfOptions;
  readonly whatIfs: WhatIfListOptions;
  readonly worklist: WorklistOptions;
}

const ACTOR = { actor: true } as const;
const REQUEST = { ...ACTOR, requestId: true } as const;
const TENANT = { tenant: true } as const;
const FINAL = { timeout: true, signal: true } as const;
const LIST = { ...TENANT, agent: true, root: true, status: true } as const;
const PAGE = { limit: true, cursor: true } as const;
const SUBSCRIBE = { after: true, signal: true } as const;
const RESULTS = { ...REQUEST, claimId: true, receivedAt: true } as const;

const KNOWN: { readonly [Call in keyof OptionsOf]: FieldsOf<OptionsOf[Call]> } = {
  agents: TENANT,
  blob: { offset: true, length: true },
  cancel: { ...REQUEST, turnId: true, reason: true },
  claim: { ...REQUEST, lease: true, claimId: true, renewOnly: true, receivedAt: true },
  close: ACTOR,
  conversation: { ...TENANT, agent: true },
  createTrigger: { replaces: true },
  deleteConversation: TENANT,
  deleteTenant: { onDeleted: true },
  events: { after: true, before: true, limit: true },
  extend: { ...REQUEST, by: true, until: true },
  final: FINAL,
  fork: { requestId: true, generation: true, atSeq: true, reopen: true, id: true },
  list: {
    ...{ ...LIST, ...PAGE, deadlineBefore: true },
    ...{ pendingTool: true, pendingKind: true, pendingFor: true },
  },
  modelCall: { generation: true },
  pending: { nested: true },
  progress: { ...ACTOR, claimId: true },
  resolve: { ...RESULTS, argsDigest: true },
  resolveBatch: RESULTS,
  result: { ...FINAL, returnWhenWaiting: true, atLeastSeq: true },
  revokeRule: REQUEST,
  send: {
    ...{ ...REQUEST, onBusy: true, reopen: true, attachments: true },
    ...{ output: true, busyTimeout: true },
  },
  sendEvent: ACTOR,
  snapshot: { atLeastSeq: true },
  subscribe: { ...SUBSCRIBE, nested: true },
  triggers: ACTOR,
  turnSubscribe: SUBSCRIBE,
  watchList: { ...LIST, ...SUBSCRIBE },
  whatIf: {
    ...{ ...REQUEST, turnId: true, generation: true, agent: true, model: true },
    ...{ instructions: true, maxSteps: true },
  },
  whatIfs: PAGE,
  worklist: {
    ...{ ...TENANT, ...ACTOR, ...PAGE, agent: true, mine: true, tool: true, kind: true },
    ...{ risk: true, requester: true, deadlineBefore: true },
  },
};

/** Options of the client itself. */
export const CLIENT_FIELDS: FieldsOf<ConversationClientOptions> = {
  ...{ temporal: true, agents: true, reader: true, leases: true, blobs: true, deletions: true },
  ...{ storeId: true, onTrouble: true, taskQueue: true, tenant: true, actor: true },
  ...{ channel: true, searchAttributes: true, pageUrl: true, patience: true },
};

/**
 * Refuses options that the call does not know. Absent ones are fine, and so are names whose value is undefined.
 * @throws {ConversationError} invalid_request naming the first of them, and the option that was probably meant
 */
export function checkOptions(call: keyof OptionsOf, options: unknown): void {
  if (options === undefined) return;
  if (!isRecord(options)) throw invalidField('', `of ${call} must have its options in an object`);
  const unknown = unknownField(options, KNOWN[call]);
  if (unknown !== undefined) throw invalidField(`/${unknown.field}`, unknown.rule);
}
