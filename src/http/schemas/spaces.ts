/** Bodies, queries and answers of the routes of spaces. */
import { z } from 'zod';
import { MAX_ACTOR_CHARS } from '../../protocol/limits/limits.js';
import {
  MAX_SPACE_NAME_CHARS,
  MAX_SPACE_PAGE,
  MAX_SPACE_POSITION,
} from '../../protocol/limits/service-limits.js';
import {
  MEMBER_KINDS,
  type Metadata,
  SPACE_ACCESS,
  SPACE_MESSAGE_KINDS,
  SPACE_MESSAGE_STATUSES,
} from '../../protocol/spaces/spaces.js';
import { isRecord } from '../../protocol/values/json.js';
import { ActorSchema, IdSchema, RequestIdSchema } from './bodies.js';
import { TENANT, wholeNumber } from './queries.js';

const NameSchema = z.string().min(1).max(MAX_SPACE_NAME_CHARS);

/** The service bounds its size and depth. */
const MetadataSchema = z
  .custom<Metadata>(isRecord, 'must be an object')
  .meta({ type: 'object', additionalProperties: true });

const ofRequest = {
  requestId: RequestIdSchema.exactOptional(),
  actor: ActorSchema.exactOptional(),
};

/** `POST /v1/spaces` */
export const CreateSpaceSchema = z
  .strictObject({
    name: NameSchema,
    access: z.enum(SPACE_ACCESS).exactOptional(),
    metadata: MetadataSchema.exactOptional(),
    ...ofRequest,
  })
  .meta({ examples: [{ name: 'Refunds', access: 'open', metadata: { team: 'support' } }] });

/** A member as a request names it. */
const NamedMemberSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('person'),
    id: z.string().min(1).max(MAX_ACTOR_CHARS),
    name: NameSchema.exactOptional(),
  }),
  z.strictObject({
    kind: z.literal('agent'),
    conversationId: IdSchema,
    agent: IdSchema,
    name: NameSchema.exactOptional(),
  }),
]);

/** `POST /v1/spaces/{spaceId}/members`; without a member the caller joins. */
export const JoinSpaceSchema = z
  .strictObject({ member: NamedMemberSchema.exactOptional(), actor: ActorSchema.exactOptional() })
  .meta({
    examples: [
      {},
      { member: { kind: 'person', id: 'bob', name: 'Bob' } },
      { member: { kind: 'agent', conversationId: 'desk-1', agent: 'support' } },
    ],
  });

/** `POST /v1/spaces/{spaceId}/messages` */
export const SendToSpaceSchema = z
  .strictObject({
    text: z.string(),
    /** Id of the text that this one answers. */
    replyTo: z.string().min(1).max(MAX_ACTOR_CHARS).exactOptional(),
    ...ofRequest,
  })
  .meta({ examples: [{ text: 'Order 42 was never delivered' }] });

/** `POST /v1/spaces/{spaceId}/read` */
export const ReadSpaceSchema = z
  .strictObject({
    messageId: z.string().min(1).max(MAX_ACTOR_CHARS),
    actor: ActorSchema.exactOptional(),
  })
  .meta({ examples: [{ messageId: 'msg_5a' }] });

/** `GET /v1/spaces`; `all` is for admins. */
export const SpacesQuerySchema = z.strictObject({
  ...TENANT,
  all: z.literal('true', 'must be "true"').exactOptional(),
  cursor: z
    .string()
    .regex(/^\d{1,15}$/, 'must be a cursor of an earlier page')
    .exactOptional(),
  limit: wholeNumber(1, MAX_SPACE_PAGE).exactOptional(),
});

const PositionSchema = wholeNumber(0, MAX_SPACE_POSITION);

/** `GET /v1/spaces/{spaceId}/messages`: at most one of `before`, `after` and `offset`. */
export const SpaceMessagesQuerySchema = z.strictObject({
  ...TENANT,
  limit: wholeNumber(1, MAX_SPACE_PAGE).exactOptional(),
  before: PositionSchema.exactOptional(),
  after: PositionSchema.exactOptional(),
  /** Leaves out so many of the newest. */
  offset: PositionSchema.exactOptional(),
});

/** An id that a stream of the space has sent: the number of a change. */
export const ChangeSchema = z
  .string()
  .regex(/^\d{1,15}$/, 'must be an id that this stream has sent, such as "42"')
  .transform(Number)
  .meta({ pattern: '^\\d{1,15}$', examples: ['42'] });

/** `GET /v1/spaces/{spaceId}/stream` */
export const SpaceStreamQuerySchema = z.strictObject({
  ...TENANT,
  after: ChangeSchema.exactOptional(),
});

const text = z.string();
const instant = text.describe('ISO 8601');
const metadata = z.looseObject({}).optional();
const ref = {
  kind: z.enum(MEMBER_KINDS),
  id: text.describe('of an agent `<conversation>~<agent>`'),
};

const mark = {
  readPosition: z.int().describe('messages up to this position are read by the caller'),
  unread: z.int().describe('messages behind it'),
};
export const ReadMark = z.looseObject(mark);

export const Space = z.looseObject({
  id: text,
  tenant: text,
  name: text,
  access: z.enum(SPACE_ACCESS),
  metadata,
  createdBy: z.looseObject(ref),
  createdAt: instant,
  lastPosition: z.int().describe('of the newest message; 0 without one'),
  lastChange: z.int().describe('of the newest change of a message; 0 without one'),
  readPosition: mark.readPosition.optional(),
  unread: mark.unread.optional().describe('absent where the caller is no member'),
});
export const SpacePage = z.looseObject({ spaces: z.array(Space), nextCursor: text.optional() });
export const SpaceRemoved = z.looseObject({ removed: z.literal(true), spaceId: text });

export const SpaceMember = z.looseObject({
  ...ref,
  name: text.optional(),
  conversationId: text.optional(),
  agent: text.optional(),
  joinedAt: instant,
});
export const SpaceMembers = z.looseObject({ members: z.array(SpaceMember) });
export const MemberRemoved = z.looseObject({
  removed: z.boolean().describe('false: there was no such member'),
});

export const SpaceMessage = z.looseObject({
  id: text,
  position: z.int().describe('from 1, without a gap'),
  change: z.int().describe('of the last change of this message'),
  author: z.looseObject({ ...ref, name: text.optional() }),
  kind: z.enum(SPACE_MESSAGE_KINDS),
  status: z.enum(SPACE_MESSAGE_STATUSES).describe('of a text always `complete`'),
  text,
  replyTo: text.optional(),
  metadata,
  createdAt: instant,
  changedAt: instant,
});
export const SpaceMessages = z.looseObject({
  messages: z.array(SpaceMessage),
  lastPosition: z.int(),
  lastChange: z.int().describe('`after` of a stream that continues this page'),
});
