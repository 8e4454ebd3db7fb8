/** Operations on the calls that wait, across conversations. */
import { ResolveManySchema } from '../../schemas/bodies.js';
import {
  ConversationQuerySchema,
  WorklistQuerySchema,
  WorklistStreamQuerySchema,
} from '../../schemas/queries.js';
import type { Operation } from './operation.js';
import { BulkResults, WorklistPage } from './shapes.js';

export const WORKLIST_OPERATIONS: readonly Operation[] = [
  {
    ...{ method: 'get', path: '/v1/worklist', id: 'listWorklist' },
    right: 'read',
    summary:
      'Waiting calls across conversations, those that end first first: what the caller may answer, and why',
    query: WorklistQuerySchema,
    answers: { 200: WorklistPage },
  },
  {
    ...{ method: 'get', path: '/v1/worklist/stream', id: 'watchWorklist' },
    right: 'read',
    summary: 'The worklist as a stream of its changes: snapshot, item, gone, counts',
    query: WorklistStreamQuerySchema,
    answers: { 200: 'stream' },
  },
  {
    ...{ method: 'post', path: '/v1/worklist/resolutions', id: 'resolveMany', idempotent: true },
    query: ConversationQuerySchema,
    right: 'answer',
    summary: 'Answers many waiting calls; each has a verdict of its own',
    bodies: [ResolveManySchema],
    answers: { 200: BulkResults },
  },
];
