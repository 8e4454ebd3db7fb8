/** Operations for those who operate the installation. */
import { NoBodySchema } from '../../schemas/bodies.js';
import { OperationsSeen, WorkerKilled } from '../../schemas/operations.js';
import { ConversationQuerySchema } from '../../schemas/queries.js';
import type { Operation } from './operation.js';

export const OPERATOR_OPERATIONS: readonly Operation[] = [
  {
    ...{ method: 'get', path: '/v1/operations', id: 'getOperations', right: 'admin' },
    summary:
      'Workers, sweep, log, dead webhooks and conversations of a tenant that need an operator; each part says when it is not known',
    query: ConversationQuerySchema,
    answers: { 200: OperationsSeen },
  },
  {
    ...{ method: 'post', path: '/v1/operations/kill-worker', id: 'killWorker', right: 'admin' },
    idempotent: true,
    summary: 'Under `colloquy dev` only: kills its worker (SIGKILL), and starts another; else 404',
    query: ConversationQuerySchema,
    bodies: [NoBodySchema],
    answers: { 202: WorkerKilled },
  },
];
