/** Queries of requests to the HTTP API. Unknown parameters are refused and named. */
import { z } from 'zod';
import { RISKS } from '../../protocol/calls/executors.js';
import { SUSPENSION_KINDS } from '../../protocol/calls/suspensions.js';
import { ATTENTION_REASONS } from '../../protocol/conversation/conversation.js';
import { STATUS_FILTERS } from '../../protocol/conversation/statuses.js';
import { MAX_ACTOR_CHARS, MAX_ID_CHARS } from '../../protocol/limits/limits.js';
import { MAX_LIST_PAGE } from '../../protocol/limits/service-limits.js';
import { PLACE } from '../../protocol/log/conversations-stream.js';
import { parseCursor } from '../../protocol/values/cursor.js';
import { toolNameProblem } from '../../protocol/values/tool-names.js';
import { IdSchema } from './bodies.js';

/** A whole number in a query, within inclusive bounds. */
export function wholeNumber(minimum: number, maximum: number): z.ZodType<number> {
  return z
    .string()
    .regex(/^\d{1,9}$/, 'must be a whole number')
    .transform(Number)
    .refine(
      (value) => value >= minimum && value <= maximum,
      `must be from ${minimum} to ${maximum}`,
    )
    .meta({ type: 'integer', minimum, maximum });
}

const CursorSchema = z
  .string()
  .transform((text, context) => {
    const cursor = parseCursor(text);
    if (cursor !== undefined) return cursor;
    context.addIssue({
      code: 'custom',
      message: 'must be a cursor "<generation>-<seq>", such as "1-42"',
    });
    return z.NEVER;
  })
  .meta({ pattern: '^[1-9]\\d{0,8}-(0|[1-9]\\d{0,8})$' });

/**
 * The tenant of the conversation, for callers that may name conversations of several tenants. Absent: the first of
 * them.
 */
export const TENANT = { tenant: IdSchema.exactOptional() };

/** Queries of routes that take no other parameter than the tenant. */
export const ConversationQuerySchema = z.strictObject(TENANT);

/** `GET /v1/conversations/{id}/pending?nested=true` */
export const PendingQuerySchema = z.strictObject({
  ...TENANT,
  nested: z.literal('true', 'must be "true"').exactOptional(),
});

/** The route parses it, in any unit, up to the longest wait. */
const TimeoutSchema = z.string().meta({ pattern: '^([1-9]|[12]\\d|30)s$', examples: ['20s'] });

/** `?wait=result&timeout=20s` */
export const WaitQuerySchema = z.strictObject({
  ...TENANT,
  wait: z.literal('result', 'must be "result"').exactOptional(),
  timeout: TimeoutSchema.exactOptional(),
});

const SeqSchema = wholeNumber(0, 999_999_999);

/** `GET /v1/turns/{turnId}?wait=20s&atLeastSeq=42`; another process may have received the seq. */
export const TurnQuerySchema = z.strictObject({
  wait: TimeoutSchema.exactOptional(),
  timeout: TimeoutSchema.exactOptional().meta({
    deprecated: true,
    description: 'The earlier name of `wait`; the request has one of them at most',
  }),
  atLeastSeq: SeqSchema.exactOptional(),
});

/** `GET /v1/turns/{turnId}/stream` */
export const TurnStreamQuerySchema = z.strictObject({ after: CursorSchema.exactOptional() });

const NameSchema = z.string().min(1).max(MAX_ACTOR_CHARS);

const NamesSchema = z.union(
  [NameSchema, z.array(NameSchema).max(50)],
  `must be a text of at most ${MAX_ACTOR_CHARS} characters`,
);
const DeadlineSchema = z.iso.datetime({
  offset: true,
  error: 'must be a time with its offset, such as "2030-01-31T12:00:00Z"',
});
const ToolNameSchema = z.string().min(1).max(MAX_ID_CHARS);

/** `GET /v1/conversations` */
export const ListQuerySchema = z.strictObject({
  ...TENANT,
  agent: IdSchema.exactOptional(),
  /** Conversations of sub-agents at any depth below this one. */
  root: IdSchema.exactOptional(),
  status: z.enum(STATUS_FILTERS).exactOptional(),
  attention: z.enum(ATTENTION_REASONS).exactOptional(),
  pendingTool: ToolNameSchema.exactOptional(),
  pendingKind: z.enum(SUSPENSION_KINDS).exactOptional(),
  /** Id of an actor, and the actor's roles: `pendingForRole=a&pendingForRole=b`. */
  pendingFor: NameSchema.exactOptional(),
  pendingForRole: NamesSchema.exactOptional(),
  deadlineBefore: DeadlineSchema.exactOptional(),
  cursor: z.string().min(1).max(1000).exactOptional(),
  limit: wholeNumber(1, MAX_LIST_PAGE).exactOptional(),
});

/** An id that a stream of conversations has sent. */
export const PlaceSchema = z
  .string()
  .regex(PLACE, 'must be an id that this stream has sent, such as "t-1700000000000"');

/** `GET /v1/conversations/stream` */
export const ListStreamQuerySchema = ListQuerySchema.pick({
  ...{ tenant: true, agent: true, root: true, status: true },
}).extend({ after: PlaceSchema.exactOptional() });

/** The actor of a request without a body: an id, and roles as `role=a&role=b`. */
export const ActorQuery = { as: NameSchema.exactOptional(), role: NamesSchema.exactOptional() };

const WORKLIST_FILTERS = {
  ...TENANT,
  ...ActorQuery,
  /** `false`: also calls that the actor may not answer, each with the reason. */
  mine: z.enum(['true', 'false'], 'must be "true" or "false"').exactOptional(),
  tool: ToolNameSchema.exactOptional(),
  agent: IdSchema.exactOptional(),
  kind: z.enum(SUSPENSION_KINDS).exactOptional(),
  risk: z.enum(RISKS).exactOptional(),
  /** Id of an actor who asked for the call. */
  requester: NameSchema.exactOptional(),
  deadlineBefore: DeadlineSchema.exactOptional(),
};

/** `GET /v1/worklist` */
export const WorklistQuerySchema = z.strictObject({
  ...WORKLIST_FILTERS,
  cursor: z.string().min(1).max(1000).exactOptional(),
  limit: wholeNumber(1, MAX_LIST_PAGE).exactOptional(),
});

/** `GET /v1/conversations/{id}` */
export const SnapshotQuerySchema = z.strictObject({
  ...TENANT,
  atLeastSeq: SeqSchema.exactOptional(),
});

const BEFORE_RULE = 'must be "end" or a cursor "<generation>-<seq>", such as "1-42"';

/**
 * `GET /v1/conversations/{id}/events`; `before` only for JSON pages, and not together with `after`; `nested` only for
 * streams; `create` for streams that may begin before their conversation.
 */
export const EventsQuerySchema = z.strictObject({
  ...TENANT,
  after: CursorSchema.exactOptional(),
  before: z.union([z.literal('end'), CursorSchema], BEFORE_RULE).exactOptional(),
  nested: z.literal('true', 'must be "true"').exactOptional(),
  create: z.literal('wait', 'must be "wait"').exactOptional(),
  limit: wholeNumber(1, MAX_LIST_PAGE).exactOptional(),
});

/** A list separated by commas, each item once. */
function listOf<Item extends string>(
  isItem: (text: string) => text is Item,
  rule: string,
): z.ZodType<readonly Item[]> {
  return z
    .string()
    .max(MAX_LIST_CHARS)
    .transform((text, context) => {
      const items = [...new Set(text.split(','))];
      if (items.every(isItem)) return items;
      context.addIssue({ code: 'custom', message: rule });
      return z.NEVER;
    });
}

/** A hundred tools with names of usual length. */
const MAX_LIST_CHARS = 4_000;

const isToolName = (text: string): text is string => toolNameProblem(text) === undefined;
const isExecutor = (text: string): text is 'client' | 'external' =>
  text === 'client' || text === 'external';

const OfferIdSchema = z
  .string()
  .regex(/^\d{1,4}-[0-9a-z]{1,13}$/, 'must be an id that this stream has sent')
  .meta({ examples: ['3-1h8xk2m0q4z7d'] });

/**
 * `GET /v1/tool-calls/stream?tools=video.render,video.cut`; `limit` only for JSON pages, `after` only for streams.
 */
export const OffersQuerySchema = z.strictObject({
  ...TENANT,
  tools: listOf(isToolName, 'must be names of tools, separated by commas').meta({
    examples: ['video.render,video.cut'],
  }),
  /** @defaultValue external */
  executors: listOf(isExecutor, 'must be "external", "client", or both, separated by a comma')
    .meta({ examples: ['external'] })
    .exactOptional(),
  agent: IdSchema.exactOptional(),
  after: OfferIdSchema.exactOptional(),
  limit: wholeNumber(1, 100).exactOptional(),
});

/** The header that an `EventSource` sends when it reconnects. */
export const LastEventIdSchema = CursorSchema;
export const LastOfferIdSchema = OfferIdSchema;

const WORKLIST_ID = /^w-[0-9a-z]{1,12}$/;

/** An id that a stream of a worklist has sent. */
export const WorklistIdSchema = z
  .string()
  .regex(WORKLIST_ID, 'must be an id that this stream has sent, such as "w-1a2b3c"');

/** `GET /v1/worklist/stream` */
export const WorklistStreamQuerySchema = z.strictObject({
  ...WORKLIST_FILTERS,
  after: WorklistIdSchema.exactOptional(),
});

/** Queries of routes that take none. */
export const NoQuerySchema = z.strictObject({});
