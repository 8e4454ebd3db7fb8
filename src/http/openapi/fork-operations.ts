/** Operations that begin a conversation from the log of another. */
import { ForkSchema } from '../schemas/forks.js';
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
];
