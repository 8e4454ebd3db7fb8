/** Examples of conversations: messages, their answers, the log, files and triggers. */
import type { z } from 'zod';
import type {
  CancelTurnReply,
  CloseConversationReply,
  TurnResult,
} from '../../../protocol/conversation/conversation.js';
import type { CanonicalEvent } from '../../../protocol/log/events.js';
import type { Trigger, TriggerSpec } from '../../../protocol/triggers/triggers.js';
import type * as bodies from '../../schemas/bodies.js';
import type * as shapes from '../rows/shapes.js';
import {
  AGENT,
  ANN,
  APPROVED_AT,
  ASKED_AT,
  BEGUN_AT,
  CALL,
  CONVERSATION,
  type Examples,
  MESSAGE,
  PENDING,
  QUESTION,
  QUEUED,
  SNAPSHOT,
  TURN,
  USAGE,
} from './story.js';

const ADMITTED = {
  ...{ status: 'admitted', conversationId: CONVERSATION, turnId: TURN, messageId: MESSAGE },
  ...{ seq: 2, ahead: 0, requestId: 'form-81', duplicate: false },
} satisfies z.input<typeof shapes.Sent>;

const COMPLETED = {
  ...{ status: 'completed', turnId: TURN, text: 'You get 42.00 back.', usage: USAGE, seq: 12 },
} satisfies TurnResult;

const LOG: readonly CanonicalEvent[] = [
  {
    ...{ type: 'user_message', seq: 2, at: BEGUN_AT, turnId: TURN, messageId: MESSAGE },
    ...{ requestId: 'form-81', parts: [{ type: 'text', text: QUESTION }], actor: ANN },
  },
  { type: 'turn_started', seq: 3, at: BEGUN_AT, turnId: TURN, messageId: MESSAGE },
];

const REPORT: TriggerSpec = {
  ...{ id: 'parcel', title: 'Return parcel', goal: 'Find out whether the parcel has come back.' },
  schedule: { type: 'cron', value: '0 9 * * mon-fri', timeZone: 'Europe/Berlin' },
  endsAt: '2026-03-31T00:00:00Z',
};

const TRIGGER: Trigger = {
  ...{ ...REPORT, id: 'parcel', madeBy: 'client', createdBy: ANN, createdAt: APPROVED_AT },
  ...{ status: 'active', invocations: 0, nextAt: '2026-03-03T08:00:00.000Z' },
};

const IMAGE = {
  ...{ id: '7d1f0a3c58e94b26a0c7f2d4918be6530f4ad1c79e6b82d35c10e8f7a4936b2d', bytes: 48_213 },
  type: 'application/octet-stream',
};

const NOTE = 'The carrier has the parcel since Monday.';

const MESSAGES: Examples = {
  createConversation: {
    bodies: {
      text: {
        ...{ agent: AGENT, id: CONVERSATION, message: QUESTION },
      } satisfies z.input<typeof bodies.CreateConversationSchema>,
      object: {
        ...{ agent: AGENT, id: CONVERSATION, message: { text: QUESTION, onBusy: 'queue' } },
      } satisfies z.input<typeof bodies.CreateWithMessageSchema>,
    },
    answers: { 200: { conversationId: CONVERSATION, ...COMPLETED }, 202: ADMITTED },
  },
  sendMessage: {
    bodies: {
      text: {
        text: 'How long will it take?',
      } satisfies z.input<typeof bodies.SendMessageSchema>,
      'JSON answer': {
        text: 'Summarise the refund.',
        output: { type: 'object', properties: { cents: { type: 'integer' } } },
      } satisfies z.input<typeof bodies.SendMessageSchema>,
    },
    answers: {
      200: { conversationId: CONVERSATION, ...COMPLETED },
      202: { ...QUEUED, conversationId: CONVERSATION, requestId: 'form-82' },
    },
  },
  getTurn: { answers: { 200: { conversationId: CONVERSATION, ...COMPLETED } } },
  cancelTurn: {
    bodies: {
      turn: {
        ...{ turnId: TURN, reason: 'Ann has found the parts' },
      } satisfies z.input<typeof bodies.CancelSchema>,
    },
    answers: {
      200: {
        ...{ status: 'done', cancelled: true, turnId: TURN, seq: 9 },
      } satisfies CancelTurnReply & { status: 'done' },
      202: { ...QUEUED, requestId: 'stop-4' },
    },
  },
  closeConversation: {
    bodies: { empty: {} },
    answers: { 200: { closed: true, seq: 13 } satisfies CloseConversationReply },
  },
  sendEvent: {
    bodies: {
      event: {
        ...{ eventId: 'parcel-3-returned', kind: 'parcel.returned', payload: { order: 3 } },
      } satisfies z.input<typeof bodies.InboxEventSchema>,
    },
    answers: {
      200: {
        ...{ conversationId: CONVERSATION, status: 'admitted', eventId: 'parcel-3-returned' },
        ...{ seq: 14, duplicate: false },
      },
      202: { conversationId: CONVERSATION, eventId: 'parcel-3-returned', ...QUEUED },
    },
  },
};

const READS: Examples = {
  listAgents: {
    answers: {
      200: { agents: [{ name: AGENT, description: 'Pays for broken orders', tools: [] }] },
    },
  },
  listConversations: { answers: { 200: { conversations: [SNAPSHOT], nextCursor: 'b3JkZXItMw' } } },
  getConversation: { answers: { 200: SNAPSHOT } },
  deleteConversation: { answers: { 200: { deleted: true, conversationId: CONVERSATION } } },
  listPendingCalls: { answers: { 200: { pending: [PENDING], seq: 7 } } },
  getPluginStates: {
    answers: { 200: { seq: 7, states: { budget: { version: 1, value: { leftCents: 5_800 } } } } },
  },
  readEvents: {
    answers: { 200: { generation: 1, events: LOG, cursor: '1-3', more: true } },
  },
  uploadFile: { answers: { 201: { blob: IMAGE } } },
  mintToken: {
    bodies: {
      page: {
        ...{ rights: ['read', 'send'], expiresIn: '30 minutes' },
      } satisfies z.input<typeof bodies.MintTokenSchema>,
    },
    answers: {
      201: {
        ...{ token: 'the-signed-token', conversation: CONVERSATION, rights: ['read', 'send'] },
        expiresAt: '2026-03-02T09:30:00.000Z',
      } satisfies z.input<typeof shapes.Token>,
    },
  },
  readModelCall: {
    answers: {
      200: {
        ...{ source: 'derived', generation: 1, seq: 4, turnId: TURN, step: 1, attempt: 1 },
        ...{ agent: AGENT, model: 'gpt-5', unknown: ['The definitions of the tools'] },
        request: { messages: [{ role: 'user', content: QUESTION }] },
      },
    },
  },
  describeRun: {
    answers: {
      200: {
        ...{ workflowId: `conversation:default:${CONVERSATION}`, namespace: 'default' },
        ...{ runId: '019caf10-51f0-7c1e-9d35-9f2c41d07be3', status: 'RUNNING' },
        ...{ historyEvents: 41, historyBytes: 30_812, startedAt: BEGUN_AT },
      },
    },
  },
};

const TRIGGERS: Examples = {
  listTriggers: { answers: { 200: { triggers: [TRIGGER] } } },
  createTrigger: {
    bodies: { cron: REPORT satisfies z.input<typeof shapes.TriggerBody> },
    answers: { 201: TRIGGER },
  },
  getTrigger: { answers: { 200: TRIGGER } },
  removeTrigger: { answers: { 200: { removed: true, triggerId: TRIGGER.id } } },
  pauseTrigger: { answers: { 200: { ...TRIGGER, status: 'paused', nextAt: undefined } } },
  resumeTrigger: { answers: { 200: TRIGGER } },
  setTriggerNote: {
    bodies: { note: { note: NOTE } satisfies z.input<typeof bodies.TriggerNoteSchema> },
    answers: { 200: { ...TRIGGER, note: NOTE } },
  },
};

const WHAT_IF = { whatIfId: 'shorter', conversationId: CONVERSATION, turnId: TURN, agent: AGENT };

const ENDED = {
  ...{ whatIfId: WHAT_IF.whatIfId, turnId: TURN, agent: AGENT, generation: 1 },
  ...{ begunAt: BEGUN_AT, endedAt: ASKED_AT },
  ...{ state: 'ended', reason: 'answered', stepCount: 1, usage: USAGE },
};

const ANSWER = {
  ...{ text: '', calls: [{ name: 'refund', arguments: '{"order":3,"cents":4200}' }] },
  ...{ model: 'gpt-5', usage: USAGE },
};

const FORKED = {
  ...{ conversationId: 'order-3-again', agent: AGENT, duplicate: false },
  origin: { conversationId: CONVERSATION, generation: 1, seq: 7, reopenedCalls: [CALL] },
  notCarried: [],
};

const FORKS: Examples = {
  forkConversation: {
    bodies: {
      'with its waiting call': {
        ...{ generation: 1, atSeq: 7, reopen: [CALL], id: 'order-3-again' },
      },
    },
    answers: {
      201: { status: 'forked', ...FORKED, seq: 9 },
      202: { ...QUEUED, ...FORKED },
    },
  },
  startWhatIf: {
    bodies: { prompt: { turnId: TURN, instructions: 'Ask before every refund. Be brief.' } },
    answers: { 202: { ...WHAT_IF, duplicate: false } },
  },
  getWhatIf: {
    answers: {
      200: {
        ...{ ...WHAT_IF, generation: 1, state: 'ended', reason: 'answered', usage: USAGE },
        steps: [{ step: 1, compared: 'same', recorded: ANSWER, answer: ANSWER }],
      },
    },
  },
  listWhatIfs: { answers: { 200: { whatIfs: [ENDED] } } },
  cancelWhatIf: { answers: { 200: { whatIfId: WHAT_IF.whatIfId, status: 'stopping' } } },
};

export const CONVERSATION_EXAMPLES: Examples = { ...MESSAGES, ...READS, ...TRIGGERS, ...FORKS };
