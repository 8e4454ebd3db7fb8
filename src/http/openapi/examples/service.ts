/** Examples of spaces, webhooks, sessions, and of the service itself. */
import type { z } from 'zod';
import type { OperationsAnswer } from '../../../protocol/log/operations.js';
import type { Member, ReadMark, Space, SpaceMessage } from '../../../protocol/spaces/spaces.js';
import type * as spaces from '../../schemas/spaces.js';
import type * as webhooks from '../../schemas/webhooks.js';
import type { Session } from '../rows/shapes.js';
import {
  AGENT,
  APPROVED_AT,
  ASKED_AT,
  BEGUN_AT,
  BOB,
  CALL,
  CONVERSATION,
  type Examples,
  TENANT,
} from './story.js';

const SPACE: Space = {
  ...{ id: 'sp-3f8a', tenant: TENANT, name: 'Refunds', access: 'invited' },
  ...{ metadata: { team: 'support' }, createdBy: { kind: 'person', id: 'bob' } },
  ...{ createdAt: BEGUN_AT, lastPosition: 1, lastChange: 1 },
};

const AGENT_MEMBER: Member = {
  ...{ kind: 'agent', id: `${CONVERSATION}~${AGENT}`, conversationId: CONVERSATION, agent: AGENT },
  joinedAt: ASKED_AT,
};

const SAID: SpaceMessage = {
  ...{ id: 'm-1', position: 1, change: 1, author: { kind: 'person', id: 'bob', name: 'Bob' } },
  ...{ kind: 'text', status: 'complete', text: 'Order 3 is refunded' },
  ...{ createdAt: APPROVED_AT, changedAt: APPROVED_AT },
};

const READ: ReadMark = { readPosition: 1, unread: 0 };

const SPACES: Examples = {
  listSpaces: { answers: { 200: { spaces: [{ ...SPACE, ...READ }] } } },
  createSpace: {
    bodies: {
      named: {
        ...{ name: 'Refunds', access: 'invited', metadata: { team: 'support' } },
      } satisfies z.input<typeof spaces.CreateSpaceSchema>,
    },
    answers: {
      201: { ...SPACE, lastPosition: 0, lastChange: 0, readPosition: 0, unread: 0 },
    },
  },
  getSpace: { answers: { 200: { ...SPACE, ...READ } } },
  deleteSpace: { answers: { 200: { removed: true, spaceId: SPACE.id } } },
  listMembers: {
    answers: {
      200: {
        members: [{ kind: 'person', id: 'bob', name: 'Bob', joinedAt: BEGUN_AT }, AGENT_MEMBER],
      },
    },
  },
  joinSpace: {
    bodies: {
      oneself: {},
      agent: {
        member: { kind: 'agent', conversationId: CONVERSATION, agent: AGENT },
      } satisfies z.input<typeof spaces.JoinSpaceSchema>,
    },
    answers: { 200: AGENT_MEMBER },
  },
  leaveSpace: { bodies: { empty: {} }, answers: { 200: { removed: true } } },
  readSpaceMessages: {
    answers: { 200: { messages: [SAID], lastPosition: 1, lastChange: 1 } },
  },
  sendToSpace: {
    bodies: {
      text: { text: SAID.text } satisfies z.input<typeof spaces.SendToSpaceSchema>,
    },
    answers: { 201: SAID },
  },
  readSpace: {
    bodies: {
      newest: { messageId: SAID.id } satisfies z.input<typeof spaces.ReadSpaceSchema>,
    },
    answers: { 200: READ },
  },
};

const HOOK = {
  ...{ id: 'wh_6b0d2c', tenant: TENANT, url: 'https://shop.example/hooks/refunds' },
  ...{
    description: 'The back office',
    events: ['conversation.suspension.opened', 'conversation.turn.ended'],
  },
  ...{ status: 'active', createdAt: BEGUN_AT },
} satisfies z.input<typeof webhooks.Webhook>;

/** No key: the words stand in place of 32 bytes in base64. */
const SECRET = 'whsec_thirty-two-bytes-in-base64';

const DELIVERY = {
  ...{ id: 'evt-order-3-8', status: 'delivered', attempts: 1, lastStatus: 204 },
  event: {
    ...{ specversion: '1.0', id: 'evt-order-3-8', source: `/conversations/${CONVERSATION}` },
    ...{
      type: 'conversation.suspension.opened',
      time: ASKED_AT,
      timestamp: ASKED_AT,
      subject: CALL,
    },
    ...{ datacontenttype: 'application/json', data: { conversationId: CONVERSATION } },
  },
};

const EMPTY = { bodies: { empty: {} } };

const WEBHOOKS: Examples = {
  listWebhooks: { answers: { 200: { webhooks: [HOOK] } } },
  createWebhook: {
    bodies: {
      filtered: {
        ...{ url: HOOK.url, description: HOOK.description },
        events: ['conversation.suspension.opened', 'conversation.turn.ended'],
      } satisfies z.input<typeof webhooks.CreateWebhookSchema>,
    },
    answers: { 201: { webhook: HOOK, secret: SECRET } },
  },
  getWebhook: { answers: { 200: HOOK } },
  removeWebhook: { answers: { 200: { removed: true, webhookId: HOOK.id } } },
  rotateWebhook: {
    ...EMPTY,
    answers: {
      200: { webhook: HOOK, secret: SECRET, previousUntil: '2026-03-03T09:20:00.000Z' },
    },
  },
  pauseWebhook: { ...EMPTY, answers: { 200: { ...HOOK, status: 'paused' } } },
  resumeWebhook: { ...EMPTY, answers: { 200: HOOK } },
  testWebhook: { ...EMPTY, answers: { 202: { deliveryId: 'evt-test-1' } } },
  listDeliveries: { answers: { 200: { deliveries: [DELIVERY] } } },
  resendDelivery: { ...EMPTY, answers: { 202: { resent: true, deliveryId: DELIVERY.id } } },
};

const SESSION = {
  ...{ tenants: [TENANT], actor: { id: BOB.id, name: 'Bob', roles: ['support-lead'] } },
  ...{ verified: true, rights: ['read', 'send', 'answer', 'extend', 'cancel'] },
  expiresAt: '2026-03-02T17:00:00.000Z',
} satisfies z.input<typeof Session>;

const SEEN: OperationsAnswer = {
  ...{ at: APPROVED_AT, tenant: TENANT, killsWorkers: false },
  workers: {
    ...{ status: 'known', taskQueue: 'colloquy', more: false },
    workers: [
      {
        ...{ identity: '4711@worker-1', state: 'up', polls: ['workflow', 'activity'] },
        ...{ lastPollAt: APPROVED_AT, agents: [AGENT] },
      },
    ],
  },
  sweep: {
    ...{ status: 'known', leader: '4711@worker-1' },
    lastPass: {
      ...{ at: APPROVED_AT, tookMs: 34, checked: 12, asked: 1, found: 0 },
      ...{ gone: 0, endedSilently: 0, failed: 0 },
    },
  },
  log: { status: 'known', conversations: 1, typicalMs: 21, worstMs: 48 },
  webhooks: { status: 'known', endpoints: 1, deadLetters: [], more: false },
  waits: { status: 'known', conversations: 1, calls: 1, more: false },
  troubles: { status: 'unavailable', reason: 'The Temporal server cannot be reached' },
};

const SERVICE: Examples = {
  getSession: { answers: { 200: SESSION } },
  beginSession: { ...EMPTY, answers: { 200: SESSION } },
  endSession: EMPTY,
  getOperations: { answers: { 200: SEEN } },
  killWorker: { ...EMPTY, answers: { 202: { killedPid: 4711 } } },
  isAlive: { answers: { 200: { status: 'ok', auth: 'identities are checked' } } },
  isReady: {
    answers: {
      200: { status: 'ready', checks: { temporal: 'ok', store: 'ok', same_store: 'ok' } },
    },
  },
  describe: { answers: { 200: { openapi: '3.1.0' } } },
};

export const SERVICE_EXAMPLES: Examples = { ...SPACES, ...WEBHOOKS, ...SERVICE };
