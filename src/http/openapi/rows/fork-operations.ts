/** Operations that make something of the log of a conversation: a fork, a test, or a turn that is played again. */
import {
  ExportQuerySchema,
  ForkSchema,
  WhatIfSchema,
  WhatIfsQuerySchema,
} from '../../schemas/forks.js';
import { ConversationQuerySchema } from '../../schemas/queries.js';
import type { Operation } from './operation.js';
import { Forked } from './shapes.js';
import { WhatIfBegun, WhatIfCancelled, WhatIfPage, WhatIfReport } from './what-if-shapes.js';

export const FORK_OPERATIONS: readonly Operation[] = [
  {
    ...{ method: 'post', path: '/v1/conversations/:id/fork', id: 'forkConversation' },
    ...{ idempotent: true, located: true },
    right: 'send',
    summary:
      'Begins a new conversation with the state at a finished step; needs the right `read`, too, and no bound caller',
    query: ConversationQuerySchema,
    bodies: [ForkSchema],
    answers: { 201: Forked, 202: Forked },
  },
  {
    ...{ method: 'get', path: '/v1/conversations/:id/export', id: 'exportConversation' },
    right: 'read',
    summary: 'The conversation as a test for vitest, which plays it again without running a tool',
    query: ExportQuerySchema,
    answers: { 200: 'file' },
  },
  {
    ...{ method: 'post', path: '/v1/conversations/:id/what-if', id: 'startWhatIf' },
    ...{ idempotent: true, located: true },
    right: 'send',
    summary:
      'Plays a turn again with another prompt or model, without running a tool; needs the right `read`, too',
    query: ConversationQuerySchema,
    bodies: [WhatIfSchema],
    answers: { 202: WhatIfBegun },
  },
  {
    ...{ method: 'get', path: '/v1/conversations/:id/what-if/:whatIfId', id: 'getWhatIf' },
    right: 'read',
    summary: 'State of a what-if; at its end with each recorded step beside the new one',
    query: ConversationQuerySchema,
    answers: { 200: WhatIfReport },
  },
  {
    ...{ method: 'get', path: '/v1/conversations/:id/what-if', id: 'listWhatIfs' },
    right: 'read',
    summary: 'What-ifs of the conversation, the newest first, without their steps',
    query: WhatIfsQuerySchema,
    answers: { 200: WhatIfPage },
  },
  {
    ...{ method: 'post', path: '/v1/conversations/:id/what-if/:whatIfId/cancel' },
    ...{ id: 'cancelWhatIf', idempotent: 'itself', query: ConversationQuerySchema },
    right: 'cancel',
    summary: 'Cancels a what-if; its finished steps stay readable',
    answers: { 200: WhatIfCancelled },
  },
];
