/** Examples of calls that wait: answers, deadlines, claims, steps, remembered decisions, and the worklist. */
import type { z } from 'zod';
import type { AcceptedBatch, StepContinuation } from '../../../protocol/calls/batches.js';
import type { ClaimedVerdict, ToolOffer } from '../../../protocol/calls/claims.js';
import type { ExtendedVerdict } from '../../../protocol/calls/extensions.js';
import type { AcceptedVerdict } from '../../../protocol/calls/resolutions.js';
import type { RevokeRuleReply, Rule } from '../../../protocol/calls/rules.js';
import type { WorklistPage } from '../../../protocol/log/worklist.js';
import type * as bodies from '../../schemas/bodies.js';
import {
  AGENT,
  APPROVED_AT,
  ASKED_AT,
  BOB,
  CALL,
  CONVERSATION,
  DEADLINE,
  DIGEST,
  type Examples,
  PENDING,
  QUEUED,
  REFUND,
  RENDER,
  refOf,
  STEP,
  TENANT,
  TURN,
} from './story.js';

const ACCEPTED: AcceptedVerdict = { verdict: 'accepted', toolCallId: CALL, seq: 8 };

/** The client could not confirm the answer in time. */
const WAITS = { ...QUEUED, verdict: QUEUED.status, status: undefined };

const RESOLUTIONS = {
  approval: { type: 'approve' },
  'with digest and memory': {
    resolution: {
      type: 'approve',
      remember: { for: 'conversation', match: { '/order': REFUND.order } },
    },
    argsDigest: DIGEST,
  },
  denial: { resolution: { type: 'deny', reason: 'The order was replaced last week' } },
} satisfies Readonly<
  Record<string, z.input<typeof bodies.ResolveSchema> | z.input<typeof bodies.ResolutionSchema>>
>;

const CLAIMED: ClaimedVerdict = {
  ...{ verdict: 'accepted', toolCallId: RENDER, claimId: 'claim-5c1e', seq: 10 },
  leaseUntil: '2026-03-02T09:25:00.000Z',
};

const RULE: Rule = {
  ...{ ruleId: 'rule_8', tool: 'refund', decision: 'approve', for: 'conversation' },
  ...{ match: { '/order': REFUND.order }, actor: BOB, at: APPROVED_AT },
};

const CONTINUATION: StepContinuation = {
  ...{ conversationId: CONVERSATION, turnId: TURN, stepId: STEP, seq: 7, ready: true },
  toolCalls: [
    {
      ...{ toolCallId: RENDER, name: 'label.print', argumentsJson: '{"order":3}' },
      ...{ isServerTool: true, wasExecuted: false, requiresClientExecution: true },
      waitsFor: 'client',
    },
  ],
};

const BATCH: AcceptedBatch = {
  ...{ verdict: 'accepted', stepId: STEP, seq: 11 },
  results: [{ verdict: 'accepted', toolCallId: RENDER, seq: 11 }],
};

const OFFER: ToolOffer = {
  ...{ ref: refOf(RENDER), conversationId: CONVERSATION, toolCallId: RENDER, turnId: TURN },
  ...{ agent: AGENT, tool: 'label.print', executor: 'external', input: { order: 3 } },
  ...{
    argsDigest: 'sha256:24bb8eb07a0bf5b55eff11c6c0a5ccb1444885eb283b302cae0862c8c64e78ad',
    openedAt: ASKED_AT,
    deadline: DEADLINE,
    attempt: 1,
  },
};

const EXTENDED: ExtendedVerdict = {
  ...{ verdict: 'accepted', toolCallId: CALL, deadline: '2026-03-05T09:00:02.000Z', seq: 8 },
};

const LIST: WorklistPage = {
  items: [
    {
      ...{ ref: PENDING.ref, tenant: TENANT, conversationId: CONVERSATION, toolCallId: CALL },
      ...{ turnId: TURN, tool: 'refund', title: 'Refund an order', risk: 'high', agent: AGENT },
      ...{ executor: 'server', kind: 'approval', preview: JSON.stringify(REFUND) },
      ...{ reason: '42.00 is more than 10.00', argsDigest: DIGEST },
      ...{ openedAt: ASKED_AT, deadline: DEADLINE, requesters: ['ann'] },
      ...{ audience: 'actors with the role support-lead', mayAnswer: true },
      why: 'you have the role support-lead',
    },
  ],
  counts: {
    ...{ total: 1, byTool: { refund: 1 } },
    byRisk: { low: 0, medium: 0, high: 1, none: 0 },
  },
};

export const CALL_EXAMPLES: Examples = {
  resolveToolCall: { bodies: RESOLUTIONS, answers: { 200: ACCEPTED, 202: WAITS } },
  resolveSpaceCall: { bodies: RESOLUTIONS, answers: { 200: ACCEPTED, 202: WAITS } },
  extendToolCall: {
    bodies: {
      by: { by: '1 day' } satisfies z.input<typeof bodies.ExtendSchema>,
      until: { until: EXTENDED.deadline } satisfies z.input<typeof bodies.ExtendSchema>,
    },
    answers: { 200: EXTENDED },
  },
  claimToolCall: {
    bodies: {
      claim: { lease: '5 minutes' } satisfies z.input<typeof bodies.ClaimSchema>,
      renewal: {
        ...{ claimId: CLAIMED.claimId, renewOnly: true },
      } satisfies z.input<typeof bodies.ClaimSchema>,
    },
    answers: { 200: CLAIMED },
  },
  reportProgress: {
    bodies: {
      half: {
        ...{ claimId: CLAIMED.claimId, payload: { percent: 50 } },
      } satisfies z.input<typeof bodies.ProgressSchema>,
    },
    answers: { 200: { ...CLAIMED, claimId: undefined, seq: undefined } },
  },
  readOffers: { answers: { 200: { offers: [OFFER], more: false } } },
  getStep: { answers: { 200: CONTINUATION } },
  submitStep: {
    bodies: {
      results: {
        results: [{ toolCallId: RENDER, resultJson: '{"pages":1}', executionMs: 840 }],
      } satisfies z.input<typeof bodies.ToolResultsSchema>,
    },
    answers: { 200: BATCH },
  },
  listRules: { answers: { 200: { rules: [RULE], seq: 8 } } },
  revokeRule: {
    bodies: { empty: {} },
    answers: {
      200: {
        ...{ revoked: true, ruleId: RULE.ruleId, seq: 9 },
      } satisfies RevokeRuleReply & { readonly revoked: true },
    },
  },
  listWorklist: { answers: { 200: LIST } },
  resolveMany: {
    bodies: {
      one: {
        items: [
          {
            ...{ conversationId: CONVERSATION, toolCallId: CALL },
            ...{ resolution: { type: 'approve' }, argsDigest: DIGEST },
          },
        ],
      } satisfies z.input<typeof bodies.ResolveManySchema>,
    },
    answers: {
      200: { results: [{ conversationId: CONVERSATION, httpStatus: 200, ...ACCEPTED }] },
    },
  },
};
