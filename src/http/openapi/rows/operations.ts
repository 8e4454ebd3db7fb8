/** Every operation of the API: its place, what it takes, and what it answers. The description is made of these rows. */
import * as bodies from '../../schemas/bodies.js';
import * as queries from '../../schemas/queries.js';
import { FORK_OPERATIONS } from './fork-operations.js';
import { INSPECTION_OPERATIONS } from './inspection-operations.js';
import { type Operation, PROGRESS_VERDICTS, QUEUED_VERDICTS, VERDICTS } from './operation.js';
import { OPERATOR_OPERATIONS } from './operator-operations.js';
import { SERVICE_OPERATIONS } from './service-operations.js';
import * as shapes from './shapes.js';
import { SPACE_OPERATIONS } from './space-operations.js';
import { WEBHOOK_OPERATIONS } from './webhook-operations.js';
import { WORKLIST_OPERATIONS } from './worklist-operations.js';

export type { Operation } from './operation.js';

const ONE = '/v1/conversations/:id';
const CALL = `${ONE}/tool-calls/:callId`;
const TRIGGER = `${ONE}/triggers/:triggerId`;
const OF_ONE = { query: queries.ConversationQuerySchema } as const;

export const OPERATIONS: readonly Operation[] = [
  {
    ...{ method: 'get', path: '/v1/agents', id: 'listAgents', ...OF_ONE },
    right: 'read',
    summary: 'The agents that workers serve',
    answers: { 200: shapes.Agents },
  },
  {
    ...{ method: 'get', path: '/v1/conversations', id: 'listConversations' },
    right: 'read',
    summary: 'Conversations, by filters',
    query: queries.ListQuerySchema,
    answers: { 200: shapes.ConversationPage },
  },
  {
    ...{ method: 'get', path: '/v1/conversations/stream', id: 'watchConversations' },
    right: 'read',
    summary:
      'Changes of the list of conversations, as a stream: ready, conversation, removed, reset, place; for `Accept: text/event-stream` only',
    query: queries.ListStreamQuerySchema,
    answers: { 200: 'stream' },
  },
  {
    ...{ method: 'post', path: '/v1/conversations', id: 'createConversation', idempotent: true },
    located: true,
    right: 'send',
    bound: true,
    summary: 'Begins a conversation with its first message',
    query: queries.WaitQuerySchema,
    bodies: [bodies.CreateConversationSchema, bodies.CreateWithMessageSchema],
    answers: { 200: shapes.ConversationTurn, 202: shapes.Sent },
  },
  {
    ...{ method: 'get', path: ONE, id: 'getConversation', tagged: true },
    right: 'read',
    summary: 'The present state of a conversation',
    query: queries.SnapshotQuerySchema,
    answers: { 200: shapes.Snapshot, 304: 'none' },
  },
  {
    ...{ method: 'delete', path: ONE, id: 'deleteConversation', ...OF_ONE },
    right: 'delete',
    summary: 'Deletes a conversation for good',
    answers: { 200: shapes.Deleted },
  },
  {
    ...{ method: 'get', path: `${ONE}/pending`, id: 'listPendingCalls' },
    right: 'read',
    summary: 'The calls that wait for an answer from outside',
    query: queries.PendingQuerySchema,
    answers: { 200: shapes.PendingCalls },
  },
  {
    ...{ method: 'get', path: `${ONE}/plugin-states`, id: 'getPluginStates', ...OF_ONE },
    right: 'read',
    summary: 'The states of plugins',
    answers: { 200: shapes.PluginStates },
  },
  {
    ...{ method: 'post', path: `${ONE}/messages`, id: 'sendMessage', idempotent: true },
    right: 'send',
    summary: 'Sends a message',
    query: queries.WaitQuerySchema,
    bodies: [bodies.SendMessageSchema],
    answers: { 200: shapes.ConversationTurn, 202: shapes.Sent },
  },
  {
    ...{ method: 'post', path: `${ONE}/cancel`, id: 'cancelTurn', idempotent: true, ...OF_ONE },
    right: 'cancel',
    summary: 'Stops the running turn, or a named one',
    bodies: [bodies.CancelSchema],
    answers: { 200: shapes.Cancelled, 202: shapes.Cancelled },
  },
  {
    ...{
      method: 'post',
      path: `${ONE}/close`,
      id: 'closeConversation',
      idempotent: 'itself',
      ...OF_ONE,
    },
    right: 'cancel',
    summary: 'Closes a conversation',
    bodies: [bodies.CloseSchema],
    answers: { 200: shapes.Closed },
  },
  {
    ...{ method: 'get', path: `${ONE}/events`, id: 'readEvents', streams: true },
    right: 'read',
    summary:
      'A page of the log, or a stream of it that continues with what comes; with `create=wait` the stream may open before its conversation begins',
    query: queries.EventsQuerySchema,
    answers: { 200: shapes.EventPage },
  },
  {
    ...{ method: 'post', path: `${ONE}/inbox`, id: 'sendEvent', idempotent: true, ...OF_ONE },
    right: 'send',
    summary: 'Sends an event of another system, which the model reads',
    bodies: [bodies.InboxEventSchema],
    answers: { 200: shapes.InboxReply, 202: shapes.InboxReply },
  },
  {
    ...{
      method: 'post',
      path: `${ONE}/blobs`,
      id: 'uploadFile',
      idempotent: 'itself',
      takesFile: true,
      ...OF_ONE,
    },
    right: 'send',
    located: true,
    summary: 'Stores a file, for a later message',
    answers: { 201: shapes.Uploaded },
  },
  {
    ...{ method: 'get', path: `${ONE}/blobs/:blobId`, id: 'readBlob', tagged: true, ...OF_ONE },
    right: 'read',
    summary: 'A value that was too large for its event; a part of it by the header `Range`',
    answers: { 200: 'file', 206: 'file', 304: 'none', 416: 'none' },
  },
  {
    ...{ method: 'get', path: `${ONE}/rules`, id: 'listRules', ...OF_ONE },
    right: 'read',
    summary: 'Remembered decisions',
    answers: { 200: shapes.Rules },
  },
  {
    ...{ method: 'delete', path: `${ONE}/rules/:ruleId`, id: 'revokeRule', idempotent: true },
    ...OF_ONE,
    right: 'answer',
    summary: 'Revokes a remembered decision',
    bodies: [bodies.RevokeRuleSchema],
    answers: { 200: shapes.Revoked },
  },
  {
    ...{ method: 'get', path: `${ONE}/steps/:stepId/tool-calls`, id: 'getStep', ...OF_ONE },
    right: 'read',
    summary: 'The calls of a step, for a front end that executes them together',
    answers: { 200: shapes.Step },
  },
  {
    ...{ method: 'post', path: `${ONE}/steps/:stepId/tool-results`, id: 'submitStep' },
    ...{ idempotent: true, ...OF_ONE },
    right: 'answer',
    summary: 'The results of all client calls of a step',
    bodies: [bodies.ToolResultsSchema],
    answers: VERDICTS,
  },
  {
    ...{ method: 'post', path: `${CALL}/resolution`, id: 'resolveToolCall', idempotent: true },
    ...OF_ONE,
    right: 'answer',
    summary: 'Answers a call that waits',
    bodies: [bodies.ResolveSchema, bodies.ResolutionSchema],
    answers: QUEUED_VERDICTS,
  },
  {
    ...{ method: 'post', path: `${CALL}/extend`, id: 'extendToolCall', idempotent: true },
    ...OF_ONE,
    right: 'extend',
    summary: 'Moves the deadline of a call that waits',
    bodies: [
      bodies.ExtendSchema.omit({ until: true }).required({ by: true }),
      bodies.ExtendSchema.omit({ by: true }).required({ until: true }),
    ],
    answers: VERDICTS,
  },
  {
    ...{ method: 'get', path: '/v1/tool-calls/stream', id: 'readOffers', streams: true },
    right: 'answer',
    summary:
      'The calls of some tools that a client or another backend may claim, across conversations; as a stream, also those that come, and those that are over',
    query: queries.OffersQuerySchema,
    answers: { 200: shapes.Offers },
  },
  {
    ...{ method: 'post', path: `${CALL}/claim`, id: 'claimToolCall', idempotent: true, ...OF_ONE },
    right: 'answer',
    summary: 'Claims a call that a client or another backend runs, or renews the claim',
    bodies: [bodies.ClaimSchema],
    answers: VERDICTS,
  },
  {
    ...{
      method: 'post',
      path: `${CALL}/progress`,
      id: 'reportProgress',
      idempotent: 'itself',
      ...OF_ONE,
    },
    right: 'answer',
    summary: 'Shows progress of a claimed call, and renews the claim',
    bodies: [bodies.ProgressSchema],
    answers: PROGRESS_VERDICTS,
  },
  {
    ...{ method: 'post', path: `${ONE}/tokens`, id: 'mintToken', idempotent: 'itself' },
    ...OF_ONE,
    right: 'read',
    summary:
      'Makes a token for this conversation alone, such as for a page; it need not have begun',
    bodies: [bodies.MintTokenSchema],
    answers: { 201: shapes.Token },
  },
  {
    ...{ method: 'get', path: `${ONE}/triggers`, id: 'listTriggers', ...OF_ONE },
    right: 'read',
    summary: 'The triggers of a conversation',
    answers: { 200: shapes.Triggers },
  },
  {
    ...{
      method: 'post',
      path: `${ONE}/triggers`,
      id: 'createTrigger',
      idempotent: true,
      ...OF_ONE,
    },
    right: 'send',
    summary: 'Makes a trigger: an event at given times',
    bodies: [shapes.TriggerBody],
    answers: { 201: shapes.Trigger },
  },
  {
    ...{ method: 'get', path: TRIGGER, id: 'getTrigger', ...OF_ONE },
    right: 'read',
    summary: 'One trigger',
    answers: { 200: shapes.Trigger },
  },
  {
    ...{ method: 'delete', path: TRIGGER, id: 'removeTrigger', ...OF_ONE },
    right: 'send',
    summary: 'Removes a trigger',
    answers: { 200: shapes.TriggerRemoved },
  },
  {
    ...{
      method: 'post',
      path: `${TRIGGER}/pause`,
      id: 'pauseTrigger',
      idempotent: 'itself',
      ...OF_ONE,
    },
    right: 'send',
    summary: 'Pauses a trigger',
    answers: { 200: shapes.Trigger },
  },
  {
    ...{
      method: 'post',
      path: `${TRIGGER}/resume`,
      id: 'resumeTrigger',
      idempotent: 'itself',
      ...OF_ONE,
    },
    right: 'send',
    summary: 'Resumes a trigger',
    answers: { 200: shapes.Trigger },
  },
  {
    ...{
      method: 'post',
      path: `${TRIGGER}/note`,
      id: 'setTriggerNote',
      idempotent: 'itself',
      ...OF_ONE,
    },
    right: 'send',
    summary: 'Sets the text that the model reads with the next event',
    bodies: [bodies.TriggerNoteSchema],
    answers: { 200: shapes.Trigger },
  },
  {
    ...{ method: 'get', path: '/v1/turns/:turnId', id: 'getTurn', query: queries.TurnQuerySchema },
    right: 'read',
    bound: true,
    summary: 'The end of a turn, or its present state; waits for it as long as `wait` says',
    answers: { 200: shapes.ConversationTurn },
  },
  {
    ...{ method: 'get', path: '/v1/turns/:turnId/stream', id: 'watchTurn', right: 'read' },
    ...{ bound: true, query: queries.TurnStreamQuerySchema },
    summary:
      'The events of a turn from its beginning, with its live events, until it ends; 204 behind its end',
    answers: { 200: 'stream', 204: 'none' },
  },
  ...SPACE_OPERATIONS,
  ...FORK_OPERATIONS,
  ...INSPECTION_OPERATIONS,
  ...WEBHOOK_OPERATIONS,
  ...OPERATOR_OPERATIONS,
  {
    ...{ method: 'get', path: '/v1/session', id: 'getSession', query: queries.NoQuerySchema },
    right: 'any',
    bound: true,
    summary: 'The identity of the caller',
    answers: { 200: shapes.Session },
  },
  {
    ...{
      method: 'post',
      path: '/v1/session',
      id: 'beginSession',
      idempotent: 'itself',
      query: queries.NoQuerySchema,
    },
    right: 'any',
    bound: true,
    summary: 'Gives a page of the same origin a cookie in place of the token that it sends',
    bodies: [bodies.NoBodySchema],
    answers: { 200: shapes.Session },
  },
  {
    ...{ method: 'delete', path: '/v1/session', id: 'endSession', query: queries.NoQuerySchema },
    right: 'any',
    bound: true,
    summary: 'Takes the cookie away; copies of it are valid until they expire',
    bodies: [bodies.NoBodySchema],
    answers: { 204: 'none' },
  },
  ...WORKLIST_OPERATIONS,
  ...SERVICE_OPERATIONS,
];
