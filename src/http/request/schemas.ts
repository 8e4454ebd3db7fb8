/**
 * Bodies and queries of the HTTP API. Unknown fields are refused and named: a misspelt one must not be silently ignored.
 * Bounds that depend on bytes are checked by the client, which every door goes through.
 */
import { z } from 'zod';
import { RESOLVES, type ResultFiles } from '../../protocol/calls/resolutions.js';
import { SUSPENSION_KINDS } from '../../protocol/calls/suspensions.js';
import { ON_BUSY } from '../../protocol/conversation/agents.js';
import { ATTENTION_REASONS } from '../../protocol/conversation/conversation.js';
import { STATUS_FILTERS } from '../../protocol/conversation/statuses.js';
import {
  MAX_ACTOR_CHARS,
  MAX_CALLS_PER_STEP,
  MAX_ID_CHARS,
  MAX_REASON_CHARS,
  MAX_REQUEST_ID_CHARS,
} from '../../protocol/limits/limits.js';
import type { FilePart, ImagePart } from '../../protocol/values/attachments.js';
import { parseCursor } from '../../protocol/values/cursor.js';
import { isRecord, type Json, type JsonSchema } from '../../protocol/values/json.js';

const IdSchema = z
  .string()
  .min(1)
  .max(MAX_ID_CHARS)
  .regex(/^[A-Za-z0-9_.-]+$/, 'may hold only letters, digits, "_", "." and "-"');

export const RequestIdSchema = z.string().min(1).max(MAX_REQUEST_ID_CHARS);

export const ActorSchema = z.strictObject({
  id: z.string().min(1).max(200),
  name: z.string().max(200).exactOptional(),
  roles: z.array(z.string().min(1).max(100)).max(50).exactOptional(),
});

/** Names a claim; whether it is the call's is for the conversation to say. */
const ClaimIdSchema = z.string().min(1).max(200);

const OnBusySchema = z.enum(ON_BUSY);

/** What a message may say besides its text, wherever it is posted. */
const messageFields = {
  actor: ActorSchema.exactOptional(),
  onBusy: OnBusySchema.exactOptional(),
  /** The client judges them, as it does for every other caller. */
  attachments: z.custom<readonly (ImagePart | FilePart)[]>().exactOptional(),
  output: z.custom<JsonSchema | false>().exactOptional(),
};

const createFields = {
  agent: IdSchema,
  id: IdSchema.exactOptional(),
  requestId: RequestIdSchema.exactOptional(),
  reopen: z.boolean().exactOptional(),
  ...messageFields,
};

/** `POST /v1/conversations`, with the first message as its text. */
export const CreateConversationSchema = z.strictObject({ ...createFields, message: z.string() });

/**
 * `POST /v1/conversations`, with the first message as an object: `{text, onBusy?, actor?}` as `/messages` takes them. What it
 * says of itself must not be said beside it, too.
 */
export const CreateWithMessageSchema = z.strictObject({
  ...createFields,
  message: z.strictObject({ text: z.string(), ...messageFields }),
});

/** `POST /v1/conversations/{id}/messages` */
export const SendMessageSchema = z.strictObject({
  text: z.string(),
  agent: IdSchema.exactOptional(),
  requestId: RequestIdSchema.exactOptional(),
  reopen: z.boolean().exactOptional(),
  ...messageFields,
});

const ReasonSchema = z.string().max(MAX_REASON_CHARS);
/** Any JSON: it was parsed as such. Depth and size are bounded by the client, without recursion over hostile depths. */
const OptionalValueSchema = z.custom<Json>();
const ValueSchema = z.custom<Json>((value) => value !== undefined, 'is required');

/** The conversation judges the match: whatever it names must be so in the call. */
const RememberSchema = z.strictObject({
  for: z.enum(['turn', 'conversation']),
  match: z.custom<Readonly<Record<string, Json>>>(isRecord, 'must be an object').exactOptional(),
});

/** The conversation judges them. */
const FilesSchema = z.custom<ResultFiles>().exactOptional();

/** The shapes that a resolution may have; whether it fits the call is for the conversation to say. */
export const ResolutionSchema = z.discriminatedUnion(
  'type',
  [
    z.strictObject({
      type: z.literal('approve'),
      input: ValueSchema.exactOptional(),
      remember: RememberSchema.exactOptional(),
    }),
    z.strictObject({
      type: z.literal('deny'),
      reason: ReasonSchema.exactOptional(),
      remember: RememberSchema.exactOptional(),
    }),
    z.strictObject({ type: z.literal('answer'), value: ValueSchema, files: FilesSchema }),
    z.strictObject({ type: z.literal('decline'), reason: ReasonSchema.exactOptional() }),
    z.strictObject({ type: z.literal('result'), value: ValueSchema, files: FilesSchema }),
    z.strictObject({ type: z.literal('error'), message: ReasonSchema.min(1) }),
    z.strictObject({
      type: z.literal('outcome'),
      value: OptionalValueSchema.exactOptional(),
      error: ReasonSchema.exactOptional(),
    }),
  ],
  {
    // Of the union itself only an unknown type is a problem; other than an object is told by its default.
    error: ({ input }) =>
      typeof input === 'object' && input !== null && !Array.isArray(input)
        ? `must be one of ${Object.keys(RESOLVES).join(', ')}`
        : undefined,
  },
);

/** `POST /v1/conversations/{id}/tool-calls/{callId}/resolution`; the resolution alone is taken, too. */
export const ResolveSchema = z.strictObject({
  resolution: ResolutionSchema,
  argsDigest: z.string().min(1).max(200).exactOptional(),
  claimId: ClaimIdSchema.exactOptional(),
  requestId: RequestIdSchema.exactOptional(),
  actor: ActorSchema.exactOptional(),
});

/** Milliseconds, or words that the client reads. */
const DurationSchema = z.union([z.number(), z.string().min(1).max(100)], {
  error: () => 'must be milliseconds or a duration such as "5 minutes"',
});

/** `POST /v1/conversations/{id}/tool-calls/{callId}/extend`: exactly one of `by` (milliseconds, or "2h") and `until`. */
export const ExtendSchema = z.strictObject({
  by: DurationSchema.exactOptional(),
  until: z.string().min(1).max(40).exactOptional(),
  requestId: RequestIdSchema.exactOptional(),
  actor: ActorSchema.exactOptional(),
});

/** `POST /v1/conversations/{id}/steps/{stepId}/tool-results`: one result for each open client call of the step, in order. */
export const ToolResultsSchema = z.strictObject({
  results: z
    .array(
      z.strictObject({
        toolCallId: z.string().min(1),
        resultJson: z.string().exactOptional(),
        errorMessage: ReasonSchema.min(1).exactOptional(),
        executionMs: z.number().exactOptional(),
        claimId: ClaimIdSchema.exactOptional(),
      }),
    )
    .min(1)
    .max(MAX_CALLS_PER_STEP),
  requestId: RequestIdSchema.exactOptional(),
  actor: ActorSchema.exactOptional(),
});

/** `POST /v1/conversations/{id}/inbox`; with an agent it may start the conversation. Kind and payload are judged by the client. */
export const InboxEventSchema = z.strictObject({
  /** Absent: the `Idempotency-Key` is the id. */
  eventId: RequestIdSchema.exactOptional(),
  kind: z.string(),
  payload: ValueSchema,
  agent: IdSchema.exactOptional(),
  actor: ActorSchema.exactOptional(),
});

/** `POST /v1/conversations/{id}/tool-calls/{callId}/claim`; with a `claimId` it renews. `lease` in milliseconds, or "5 minutes". */
export const ClaimSchema = z.strictObject({
  lease: DurationSchema.exactOptional(),
  claimId: ClaimIdSchema.exactOptional(),
  requestId: RequestIdSchema.exactOptional(),
  actor: ActorSchema.exactOptional(),
});

/** `POST /v1/conversations/{id}/tool-calls/{callId}/progress`, by who holds the call. */
export const ProgressSchema = z.strictObject({
  payload: ValueSchema,
  claimId: ClaimIdSchema,
  actor: ActorSchema.exactOptional(),
});

/** `POST /v1/conversations/{id}/cancel` */
export const CancelSchema = z.strictObject({
  turnId: z.string().min(1).max(200).exactOptional(),
  reason: ReasonSchema.exactOptional(),
  requestId: RequestIdSchema.exactOptional(),
  actor: ActorSchema.exactOptional(),
});

/** `POST /v1/conversations/{id}/close` */
export const CloseSchema = z.strictObject({ actor: ActorSchema.exactOptional() });

/** `DELETE /v1/conversations/{id}/rules/{ruleId}` */
export const RevokeRuleSchema = z.strictObject({
  requestId: RequestIdSchema.exactOptional(),
  actor: ActorSchema.exactOptional(),
});

/** Whole numbers in queries; bounds as given. */
function wholeNumber(minimum: number, maximum: number): z.ZodType<number> {
  return z
    .string()
    .regex(/^\d{1,9}$/, 'must be a whole number')
    .transform(Number)
    .refine(
      (value) => value >= minimum && value <= maximum,
      `must be from ${minimum} to ${maximum}`,
    );
}

const CursorSchema = z.string().transform((text, context) => {
  const cursor = parseCursor(text);
  if (cursor !== undefined) return cursor;
  context.addIssue({
    code: 'custom',
    message: 'must be a cursor "<generation>-<seq>", such as "1-42"',
  });
  return z.NEVER;
});

/** Whose conversation is meant, for callers who may name those of several tenants. Absent: the first of them. */
const TENANT = { tenant: IdSchema.exactOptional() };

/** Queries of routes of one conversation that take nothing else. */
export const ConversationQuerySchema = z.strictObject(TENANT);

/** `?wait=result&timeout=20s` */
export const WaitQuerySchema = z.strictObject({
  ...TENANT,
  wait: z.literal('result', 'must be "result"').exactOptional(),
  timeout: z.string().exactOptional(),
});

const SeqSchema = wholeNumber(0, 999_999_999);

/** `GET /v1/turns/{turnId}?timeout=20s&atLeastSeq=42`; the seq is one that another process was told. */
export const TurnQuerySchema = z.strictObject({
  timeout: z.string().exactOptional(),
  atLeastSeq: SeqSchema.exactOptional(),
});

const NameSchema = z.string().min(1).max(MAX_ACTOR_CHARS);

/** `GET /v1/conversations` */
export const ListQuerySchema = z.strictObject({
  ...TENANT,
  agent: IdSchema.exactOptional(),
  status: z.enum(STATUS_FILTERS).exactOptional(),
  attention: z.enum(ATTENTION_REASONS).exactOptional(),
  pendingTool: z.string().min(1).max(MAX_ID_CHARS).exactOptional(),
  pendingKind: z.enum(SUSPENSION_KINDS).exactOptional(),
  /** Id of an actor, and roles that he has besides: `pendingForRole=a&pendingForRole=b`. */
  pendingFor: NameSchema.exactOptional(),
  pendingForRole: z
    .union(
      [NameSchema, z.array(NameSchema).max(50)],
      `must be a text of at most ${MAX_ACTOR_CHARS} characters`,
    )
    .exactOptional(),
  deadlineBefore: z.iso
    .datetime({
      offset: true,
      error: 'must be a time with its offset, such as "2030-01-31T12:00:00Z"',
    })
    .exactOptional(),
  cursor: z.string().min(1).max(1000).exactOptional(),
  limit: wholeNumber(1, 100).exactOptional(),
});

/** `GET /v1/conversations/{id}` */
export const SnapshotQuerySchema = z.strictObject({
  ...TENANT,
  atLeastSeq: SeqSchema.exactOptional(),
});

const BEFORE_RULE = 'must be "end" or a cursor "<generation>-<seq>", such as "1-42"';

/** `GET /v1/conversations/{id}/events`; `before` only for JSON pages, and not together with `after`. */
export const EventsQuerySchema = z.strictObject({
  ...TENANT,
  after: CursorSchema.exactOptional(),
  before: z.union([z.literal('end'), CursorSchema], BEFORE_RULE).exactOptional(),
  limit: wholeNumber(1, 1000).exactOptional(),
});

/** The header that an `EventSource` sends when it reconnects. */
export const LastEventIdSchema = CursorSchema;

/** Bodies of routes that take none. */
export const NoBodySchema = z.strictObject({});

/** Queries of routes that take none. */
export const NoQuerySchema = z.strictObject({});
