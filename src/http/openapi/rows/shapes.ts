/**
 * The shapes of the API's answers, for its description. Objects may have further fields: a later version adds some, and
 * clients ignore those that they do not know.
 */
import { z } from 'zod';
import { EXECUTORS, RISKS } from '../../../protocol/calls/executors.js';
import { VERDICT_HTTP_STATUS } from '../../../protocol/calls/resolutions.js';
import { SUSPENSION_KINDS } from '../../../protocol/calls/suspensions.js';
import { CONVERSATION_STATUSES } from '../../../protocol/conversation/statuses.js';
import { FAILURES } from '../../../protocol/failures/failures.js';
import { TRIGGER_TYPES } from '../../../protocol/triggers/triggers.js';
import { RIGHTS } from '../../identity/identity.js';
import { ActorSchema } from '../../schemas/bodies.js';

export const object = z.looseObject;
export const text = z.string();
export const instant = text.describe('ISO 8601');
export const whole = z.int();
/** Any JSON. */
const json = z.unknown();

const Actor = object({
  id: text,
  name: text.optional(),
  roles: z.array(text).optional(),
  verified: z.boolean(),
  channel: text,
});

export const Usage = object({
  inputTokens: z.number(),
  outputTokens: z.number(),
  costMicros: z.number().optional(),
});

const LABELS = {
  title: text.optional().describe('a name for people, if the tool declares one'),
  risk: z.enum(RISKS).optional(),
};

const PendingCall = object({
  ref: text.describe('names the call in every request that answers it'),
  toolCallId: text,
  turnId: text,
  name: text,
  ...LABELS,
  executor: z.enum([...EXECUTORS] as [string, ...string[]]),
  kind: z.enum(SUSPENSION_KINDS),
  prompt: json.describe('shown to the person or program that answers'),
  reason: text.optional(),
  answerSchema: json.optional().describe('JSON Schema of the answer'),
  audience: json.optional(),
  argsDigest: text.optional(),
  openedAt: instant,
  deadline: instant,
  claimBy: instant.optional(),
  claim: json.optional(),
});

export const Offers = object({
  offers: z.array(
    object({
      ref: text,
      conversationId: text,
      toolCallId: text,
      turnId: text,
      agent: text,
      tool: text,
      executor: z.enum(['client', 'external']),
      input: json,
      argsDigest: text.optional(),
      openedAt: instant,
      deadline: instant,
      claimBy: instant.optional(),
      attempt: whole.describe('1 + how often the call was claimed before, and the claim lapsed'),
    }),
  ),
  more: z.boolean(),
});

const InFlightTool = object({
  toolCallId: text,
  name: text,
  executor: text,
  turnId: text,
  childId: text.optional().describe('the conversation of the sub-agent that runs the call'),
});

export const Token = object({
  token: text.describe('for `Authorization: Bearer`; it cannot be revoked'),
  conversation: text,
  rights: z.array(z.enum(RIGHTS)),
  expiresAt: instant,
});

export const Session = object({
  tenants: z.array(text),
  actor: object({ id: text, name: text.optional(), roles: z.array(text).optional() }),
  verified: z.boolean(),
  rights: z.array(z.enum(RIGHTS)),
  conversation: text.optional().describe('the only one that the caller may use'),
  expiresAt: instant.optional(),
});

const Origin = object({
  conversationId: text,
  generation: whole,
  seq: whole.describe('the last event of the origin that the fork has'),
  reopenedCalls: z.array(text).optional().describe('calls that wait anew in the fork'),
}).describe('where a fork began');

export const Snapshot = object({
  tenant: text,
  conversationId: text,
  agent: text,
  status: z.enum([...CONVERSATION_STATUSES] as [string, ...string[]]),
  seq: whole,
  generation: whole.optional(),
  title: text.optional().describe('the beginning of its first message, on one line'),
  startedAt: instant,
  updatedAt: instant,
  turn: object({ turnId: text, step: whole, stepId: text, startedAt: instant }).optional(),
  queued: z.array(text).describe('turns of accepted messages that have not begun'),
  pending: z.array(PendingCall),
  inFlightTools: z.array(InFlightTool),
  usage: Usage,
  origin: Origin.optional(),
});

export const Forked = object({
  status: z.enum(['forked', 'queued']),
  conversationId: text,
  agent: text,
  origin: Origin,
  notCarried: z.array(text).describe('calls that were open there and stay with the origin'),
  duplicate: z.boolean(),
  seq: whole.optional().describe('the end of its log; for status `forked`'),
  reason: text.optional().describe('why no worker has begun it yet; for status `queued`'),
  warning: text.optional(),
});

export const ConversationPage = object({
  conversations: z.array(Snapshot),
  nextCursor: text.optional(),
});

export const PendingCalls = object({ pending: z.array(PendingCall), seq: whole });

const WorklistItem = object({
  ref: text,
  tenant: text,
  conversationId: text,
  toolCallId: text,
  turnId: text,
  tool: text,
  ...LABELS,
  agent: text.describe('the agent that made the call'),
  executor: text,
  kind: z.enum(SUSPENSION_KINDS),
  preview: text.describe('arguments or question as JSON, cut to 1,000 characters'),
  previewCut: z.literal(true).optional(),
  reason: text.optional(),
  argsDigest: text.optional(),
  openedAt: instant,
  deadline: instant,
  claimBy: instant.optional(),
  claim: object({ by: text, at: instant }).optional(),
  requesters: z.array(text).describe('ids of the actors who asked for the call'),
  audience: text.describe('in words'),
  mayAnswer: z.boolean(),
  why: text.describe('why the actor may, or may not, in words'),
});

const counted = z.record(text, whole);
const WorklistCounts = object({
  total: whole,
  byTool: counted.describe('the 50 tools with the most calls'),
  otherTools: whole.optional().describe('calls of other tools'),
  byRisk: object({ low: whole, medium: whole, high: whole, none: whole }),
  capped: z
    .literal(true)
    .optional()
    .describe('there may be more calls than the most that are counted'),
});

export const WorklistPage = object({
  items: z.array(WorklistItem),
  nextCursor: text.optional(),
  counts: WorklistCounts.optional().describe('on the first page'),
});

export const Event = object({ seq: whole, at: instant, type: text });

export const EventPage = object({
  generation: whole,
  events: z.array(Event),
  cursor: text,
  more: z.boolean(),
  tail: text.optional(),
});

/** A message was taken, or waits for a worker. */
export const Sent = z.union([
  object({
    status: z.literal('admitted'),
    conversationId: text,
    turnId: text,
    messageId: text,
    seq: whole,
    ahead: whole,
    requestId: text,
    duplicate: z.boolean(),
  }),
  object({
    status: z.literal('queued'),
    conversationId: text,
    requestId: text,
    reason: text,
    warning: text,
  }),
]);

const ended = { turnId: text, text, usage: Usage, seq: whole };
export const TurnResult = z.union([
  object({ status: z.literal('completed'), ...ended, output: json.optional() }),
  object({ status: z.literal('failed'), ...ended, error: object({ code: text, message: text }) }),
  object({ status: z.literal('cancelled'), ...ended }),
  object({ status: z.literal('waiting'), turnId: text, pending: z.array(PendingCall), seq: whole }),
  object({ status: z.literal('timeout'), turnId: text }),
]);
export const ConversationTurn = z.intersection(object({ conversationId: text }), TurnResult);

/** Every reply about one call. Its HTTP status follows from the verdict. */
export const Verdict = object({
  verdict: z.enum(['not_ready', ...Object.keys(VERDICT_HTTP_STATUS)]),
});

const Problems = z.array(object({ path: text, message: text }));

export const Problem = object({
  type: text,
  title: text,
  status: whole,
  detail: text,
  code: z.enum(Object.keys(FAILURES) as [string, ...string[]]),
  errors: Problems.optional(),
});

/** One for each item, in their order: as the route of the call answers it, with the status. */
export const BulkResults = object({
  results: z.array(
    object({ conversationId: text, toolCallId: text, httpStatus: whole, verdict: text.optional() }),
  ),
});

export const Cancelled = z.union([
  object({ status: z.literal('done'), cancelled: z.boolean(), turnId: text.optional() }),
  object({ status: z.literal('queued'), requestId: text, reason: text, warning: text }),
]);
export const Closed = object({ closed: z.literal(true), seq: whole });
export const Deleted = object({ deleted: z.literal(true), conversationId: text });

export const InboxReply = object({
  conversationId: text,
  eventId: text,
  status: z.enum(['admitted', 'queued']),
});

export const Step = object({
  ready: z.boolean(),
  toolCalls: z.array(object({ toolCallId: text })),
});

export const Rules = object({ rules: z.array(object({ ruleId: text })), seq: whole });
export const Revoked = object({ revoked: z.literal(true) });

export const Trigger = object({
  id: text,
  title: text,
  goal: text,
  schedule: object({ type: text, value: text }),
  status: text,
  createdBy: Actor,
});
/** The client checks the fields. */
export const TriggerBody = z.strictObject({
  id: text.min(1).optional(),
  title: text.min(1),
  goal: text.min(1),
  schedule: z.strictObject({
    type: z.enum(TRIGGER_TYPES),
    value: text.describe('an instant with offset, a duration, or five fields of cron'),
    timeZone: text.optional(),
  }),
  maxInvocations: whole.min(1).optional(),
  endsAt: instant.optional(),
  note: text.optional(),
  actor: ActorSchema.optional(),
});
export const Triggers = object({ triggers: z.array(Trigger) });
export const TriggerRemoved = object({ removed: z.literal(true), triggerId: text });

export const PluginStates = object({
  seq: whole,
  states: z.record(text, object({ version: whole, value: json })),
});

export const Agents = object({ agents: z.array(object({ name: text })) });
export const Uploaded = object({ blob: object({ id: text, bytes: whole, type: text }) });
export const Health = object({ status: z.literal('ok') });
export const Ready = object({
  status: z.enum(['ready', 'not_ready']),
  checks: z.record(text, text),
});
export const Description = object({ openapi: text });
