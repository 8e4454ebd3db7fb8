/** The operations of spaces. */
import { NoBodySchema, ResolutionSchema, ResolveSchema } from '../../schemas/bodies.js';
import { ConversationQuerySchema } from '../../schemas/queries.js';
import * as spaces from '../../schemas/spaces.js';
import { type Operation, QUEUED_VERDICTS } from './operation.js';

const LIST = '/v1/spaces';
const ONE = `${LIST}/:spaceId`;
const OF_TENANT = { query: ConversationQuerySchema } as const;

export const SPACE_OPERATIONS: readonly Operation[] = [
  {
    ...{ method: 'get', path: LIST, id: 'listSpaces', right: 'read' },
    query: spaces.SpacesQuerySchema,
    summary: 'The spaces of which the caller is a member, newest first',
    answers: { 200: spaces.SpacePage },
  },
  {
    ...{ method: 'post', path: LIST, id: 'createSpace', right: 'send', ...OF_TENANT },
    ...{ idempotent: true, located: true },
    summary: 'Creates a space with the caller as its first member',
    bodies: [spaces.CreateSpaceSchema],
    answers: { 201: spaces.Space },
  },
  {
    ...{ method: 'get', path: ONE, id: 'getSpace', right: 'read', ...OF_TENANT },
    summary: 'One space',
    answers: { 200: spaces.Space },
  },
  {
    ...{ method: 'delete', path: ONE, id: 'deleteSpace', right: 'delete', ...OF_TENANT },
    summary: 'Deletes a space with its members and messages for good',
    answers: { 200: spaces.SpaceRemoved },
  },
  {
    ...{ method: 'get', path: `${ONE}/members`, id: 'listMembers', right: 'read', ...OF_TENANT },
    summary: 'All members of a space, in the order of joining',
    answers: { 200: spaces.SpaceMembers },
  },
  {
    ...{ method: 'post', path: `${ONE}/members`, id: 'joinSpace', right: 'send', ...OF_TENANT },
    idempotent: 'itself',
    summary: 'Joins an open space; members also add other people and agents',
    bodies: [spaces.JoinSpaceSchema],
    answers: { 200: spaces.SpaceMember },
  },
  {
    ...{ method: 'delete', path: `${ONE}/members/:kind/:memberId`, id: 'leaveSpace' },
    ...{ right: 'send', ...OF_TENANT },
    summary: 'Removes the caller, or an agent, from a space; other people are removed by an admin',
    bodies: [NoBodySchema],
    answers: { 200: spaces.MemberRemoved },
  },
  {
    ...{ method: 'get', path: `${ONE}/messages`, id: 'readSpaceMessages', right: 'read' },
    query: spaces.SpaceMessagesQuerySchema,
    summary: 'The newest messages of a space, those before or after a position, or by offset',
    answers: { 200: spaces.SpaceMessages },
  },
  {
    ...{ method: 'post', path: `${ONE}/messages`, id: 'sendToSpace', right: 'send', ...OF_TENANT },
    idempotent: true,
    summary: 'Sends a text to a space',
    bodies: [spaces.SendToSpaceSchema],
    answers: { 201: spaces.SpaceMessage },
  },
  {
    ...{ method: 'post', path: `${ONE}/read`, id: 'readSpace', right: 'send', ...OF_TENANT },
    idempotent: 'itself',
    summary: 'Marks all messages of a space up to one as read by the caller',
    bodies: [spaces.ReadSpaceSchema],
    answers: { 200: spaces.ReadMark },
  },
  {
    ...{ method: 'post', path: `${ONE}/messages/:messageId/resolution`, id: 'resolveSpaceCall' },
    ...{ idempotent: true, answersCall: true, right: 'send', ...OF_TENANT },
    summary: 'A member of a space answers the call that a message shows',
    bodies: [ResolveSchema, ResolutionSchema],
    answers: QUEUED_VERDICTS,
  },
  {
    ...{ method: 'get', path: `${ONE}/stream`, id: 'watchSpace', right: 'read' },
    query: spaces.SpaceStreamQuerySchema,
    summary:
      'New messages of a space, and changes of them, as a stream: ready, message, tool.started, tool.streaming, tool.done, tool.error, members, read, reset, deleted',
    answers: { 200: 'stream' },
  },
];
