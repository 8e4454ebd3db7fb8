/**
 * Bodies of requests to the HTTP API. Unknown fields are refused and named, so that a misspelt one is not silently
 * ignored. The client checks bounds that depend on bytes, because every entry calls it.
 */
import { z } from 'zod';
import { RESOLVES, type ResultFiles } from '../../protocol/calls/resolutions.js';
import { ON_BUSY } from '../../protocol/conversation/agents.js';
import {
  MAX_CALLS_PER_STEP,
  MAX_ID_CHARS,
  MAX_REASON_CHARS,
  MAX_REQUEST_ID_CHARS,
} from '../../protocol/limits/limits.js';
import { MAX_BULK_RESOLUTIONS } from '../../protocol/limits/service-limits.js';
import type { FilePart, ImagePart } from '../../protocol/values/attachments.js';
import { isRecord, type Json, type JsonSchema } from '../../protocol/values/json.js';

/** Rights that a token for one conversation may have. */
export const LENT_RIGHTS = ['read', 'send', 'answer', 'extend', 'cancel'] as const;

export const IdSchema = z
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

/** Names a claim. The conversation judges whether it is the claim of the call. */
const ClaimIdSchema = z.string().min(1).max(200);

const OnBusySchema = z.enum(ON_BUSY);

const OF_OWN_FILES =
  'A `fileId` must be that of a file which the caller may use at the provider; 422 where the API does not know';

/** Fields of a message besides its text, on every route that takes a message. */
const messageFields = {
  actor: ActorSchema.exactOptional(),
  onBusy: OnBusySchema.exactOptional(),
  /** The client checks attachments and output schema, as it does for every other caller. */
  attachments: z
    .custom<readonly (ImagePart | FilePart)[]>()
    .meta({ type: 'array', items: { type: 'object' }, description: OF_OWN_FILES })
    .exactOptional(),
  output: z
    .custom<JsonSchema | false>()
    .meta({ type: ['object', 'boolean'] })
    .exactOptional(),
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
 * `POST /v1/conversations`, with the first message as an object: `{text, onBusy?, actor?}` as `/messages` takes it. A
 * field of the message must not be given beside it, too.
 */
export const CreateWithMessageSchema = z.strictObject({
  ...createFields,
  message: z.strictObject({ text: z.string(), ...messageFields }),
});

/** `POST /v1/conversations/{id}/triggers`. The client checks the fields, as it does for every other caller. */
export const CreateTriggerSchema = z.looseObject({ actor: ActorSchema.exactOptional() });

/** `POST /v1/conversations/{id}/triggers/{triggerId}/note` */
export const TriggerNoteSchema = z.strictObject({ note: z.string() });

/** `POST /v1/conversations/{id}/messages` */
export const SendMessageSchema = z.strictObject({
  text: z.string(),
  agent: IdSchema.exactOptional(),
  requestId: RequestIdSchema.exactOptional(),
  reopen: z.boolean().exactOptional(),
  ...messageFields,
});

const ReasonSchema = z.string().max(MAX_REASON_CHARS);
/** Any JSON: the body parser made it. The client bounds depth and size, without recursion over hostile depths. */
const OptionalValueSchema = z.custom<Json>();
const ValueSchema = z.custom<Json>((value) => value !== undefined, 'is required');

/** The conversation judges the match: every field that it names must have this value in the call. */
const RememberSchema = z.strictObject({
  for: z.enum(['turn', 'conversation']),
  match: z
    .custom<Readonly<Record<string, Json>>>(isRecord, 'must be an object')
    .meta({ type: 'object' })
    .exactOptional(),
});

/** The conversation judges the files. */
const FilesSchema = z
  .custom<ResultFiles>()
  .meta({ type: 'array', items: { type: 'object' }, description: OF_OWN_FILES })
  .exactOptional();

/** The shapes that a resolution may have. The conversation judges whether it fits the call. */
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
    // The union itself reports only an unknown type; a value that is not an object gets Zod's default message.
    error: ({ input }) =>
      typeof input === 'object' && input !== null && !Array.isArray(input)
        ? `must be one of ${Object.keys(RESOLVES).join(', ')}`
        : undefined,
  },
);

/** `POST /v1/conversations/{id}/tool-calls/{callId}/resolution`; the route also takes the resolution alone. */
export const ResolveSchema = z.strictObject({
  resolution: ResolutionSchema,
  argsDigest: z.string().min(1).max(200).exactOptional(),
  claimId: ClaimIdSchema.exactOptional(),
  requestId: RequestIdSchema.exactOptional(),
  actor: ActorSchema.exactOptional(),
});

/** `POST /v1/worklist/resolutions`: each item as the single route takes it. */
export const ResolveManySchema = z.strictObject({
  items: z
    .array(
      ResolveSchema.omit({ actor: true }).extend({
        conversationId: IdSchema,
        toolCallId: z.string().min(1).max(MAX_ID_CHARS),
      }),
    )
    .min(1)
    .max(MAX_BULK_RESOLUTIONS),
  actor: ActorSchema.exactOptional(),
});

/** Milliseconds, or a duration in words that the client parses. */
const DurationSchema = z
  .union([z.number(), z.string().min(1).max(100)], {
    error: () => 'must be milliseconds or a duration such as "5 minutes"',
  })
  .meta({ examples: ['5 minutes', 300_000] });

/**
 * `POST /v1/conversations/{id}/tool-calls/{callId}/extend`: exactly one of `by` (milliseconds, or "2h") and `until`.
 */
export const ExtendSchema = z.strictObject({
  by: DurationSchema.exactOptional(),
  until: z.string().min(1).max(40).exactOptional(),
  requestId: RequestIdSchema.exactOptional(),
  actor: ActorSchema.exactOptional(),
});

/**
 * `POST /v1/conversations/{id}/steps/{stepId}/tool-results`: one result for each open client call of the step, in
 * order.
 */
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

/**
 * `POST /v1/conversations/{id}/inbox`; with an agent the event may start the conversation. The client checks kind and
 * payload.
 */
export const InboxEventSchema = z.strictObject({
  /** Absent: the `Idempotency-Key` is the id. */
  eventId: RequestIdSchema.exactOptional(),
  kind: z.string(),
  payload: ValueSchema,
  agent: IdSchema.exactOptional(),
  actor: ActorSchema.exactOptional(),
});

/**
 * `POST /v1/conversations/{id}/tool-calls/{callId}/claim`; with a `claimId` the request renews the claim. `lease` in
 * milliseconds, or "5 minutes"; `renewOnly` refuses to claim the call anew when that claim is over.
 */
export const ClaimSchema = z.strictObject({
  lease: DurationSchema.exactOptional(),
  claimId: ClaimIdSchema.exactOptional(),
  renewOnly: z.literal(true, 'must be true').exactOptional(),
  requestId: RequestIdSchema.exactOptional(),
  actor: ActorSchema.exactOptional(),
});

/** `POST /v1/conversations/{id}/tool-calls/{callId}/progress`, sent by the holder of the claim. */
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

/**
 * `POST /v1/conversations/{id}/tokens`: a token for this conversation alone, with `rights` that the caller has itself.
 * The actor is the caller, or the one that is named.
 */
export const MintTokenSchema = z.strictObject({
  rights: z.array(z.enum(LENT_RIGHTS)).min(1).exactOptional(),
  /** Milliseconds, or "30 minutes". */
  expiresIn: DurationSchema.exactOptional(),
  actor: ActorSchema.exactOptional(),
});

/** Bodies of routes that take none. */
export const NoBodySchema = z.strictObject({});
