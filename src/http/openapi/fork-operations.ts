/** Operations that make something of the log of a conversation: a fork, or a test. */
import { ExportQuerySchema, ForkSchema } from '../schemas/forks.js';
import { ConversationQuerySchema } from '../schemas/queries.js';
import type { Operation } from './operation.js';
import { Forked } from './shapes.js';

export const FORK_OPERATIONS: readonly Operation[] = [
  {
    ...{ method: 'post', path: '/v1/conversations/:id/fork', id: 'forkConversation' },
    idempotent: true,
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
];
