/**
 * Every kind of request that a conversation takes: how it is read, judged and recorded. The machine, the workflow's
 * handlers, recovery after a reset and the test kit all use this table.
 */
import type { ClaimedVerdict } from '../../protocol/calls/claims.js';
import type { ChangeSuspensionReply } from '../../protocol/calls/definitions.js';
import type { ExtendedVerdict } from '../../protocol/calls/extensions.js';
import type {
  CancelTurnReply,
  CloseConversationReply,
} from '../../protocol/conversation/conversation.js';
import type { StampedActor } from '../../protocol/values/actors.js';
import { actorFrom } from '../../protocol/values/actors.js';
import { claimedReply } from '../apply/waits.js';
import { cancelEvents, closeEvents } from '../events/turns.js';
import { fieldsOf, type PlainRecord } from '../input/plain-input.js';
import { judgeBatch, parseBatch } from '../judge/batches.js';
import { parseCallRequest } from '../judge/calls.js';
import { judgeCancel, parseCancel } from '../judge/cancels.js';
import { judgeClaim, judgeLeaseLoss } from '../judge/claims.js';
import { judgeExtension } from '../judge/extensions.js';
import type { Judged } from '../judge/judged.js';
import { judgeInboxEvent, judgeMessage, parseInboxEvent, parseMessage } from '../judge/messages.js';
import { judgeOffer } from '../judge/offers.js';
import { judgeResolution, parseResolution } from '../judge/resolutions.js';
import { judgeRevocation } from '../judge/rules.js';
import { judgeReport, parseReport, recordReport } from './child-reports.js';
import { recordInboxEvent, recordMessage } from './messages.js';
import {
  refusedCancel,
  refusedInboxEvent,
  refusedMessage,
  refusedResolution,
} from './refused-signals.js';
import { recordBatch, recordResolution } from './resolutions.js';
import { type Outcome, signalVerb, type Verb, verb } from './verb.js';

/** Checks nothing: the judge finds each problem of the fields. */
const fields = (input: unknown): { readonly request: PlainRecord } => ({
  request: fieldsOf(input),
});

const ROWS = {
  sendMessage: signalVerb({
    description: 'Start or continue the conversation with a message: {text, requestId, actor}',
    parse: parseMessage,
    judge: judgeMessage,
    record: recordMessage,
    refusedSignal: refusedMessage,
  }),
  resolveToolCall: signalVerb({
    description: 'Answer a waiting call: {toolCallId, resolution, actor, requestId}',
    parse: parseResolution,
    judge: judgeResolution,
    record: recordResolution,
    expires: ({ late, call }) => (late === true ? call.plan.toolCallId : undefined),
    refusedSignal: refusedResolution,
  }),
  cancelTurn: signalVerb({
    description: 'Stop the running turn: {turnId?, reason?, actor}',
    parse: parseCancel,
    judge: judgeCancel,
    record: (state, judged) => {
      if ('reply' in judged) return { events: [], reply: (): CancelTurnReply => judged.reply };
      const { turnId } = judged.cancel;
      return {
        events: cancelEvents(state, judged.cancel),
        reply: (_, seq): CancelTurnReply => ({ cancelled: true, turnId, seq }),
      };
    },
    refusedSignal: refusedCancel,
  }),
  closeConversation: signalVerb({
    description: 'Close the conversation: {actor}',
    parse: fields,
    judge: (_, { actor }): Judged<StampedActor, never> => ({ accepted: actorFrom(actor) }),
    record: (state, actor) => ({
      events: state.closed ? [] : closeEvents(state, { reason: 'requested', actor }),
      reply: ({ lastSeq }): CloseConversationReply => ({ closed: true, seq: lastSeq }),
    }),
    refusedSignal: () => undefined,
  }),
  extendToolCall: verb({
    description: 'Move the deadline of a waiting call: {toolCallId, until | by, actor, requestId}',
    parse: parseCallRequest,
    judge: judgeExtension,
    record: (_, event) => ({
      events: [event],
      reply: (__, seq): ExtendedVerdict => {
        const { toolCallId, deadline } = event;
        return { verdict: 'accepted', toolCallId, deadline, seq };
      },
    }),
  }),
  claimToolCall: verb({
    description: 'Say that you run a waiting call: {toolCallId, actor, leaseMs, requestId}',
    parse: parseCallRequest,
    judge: judgeClaim,
    record: (_, event) => ({
      events: [event],
      reply: ({ updatedAt }, seq): ClaimedVerdict => claimedReply({ ...event, at: updatedAt, seq }),
    }),
  }),
  leaseLost: verb({
    description: 'From the watch of leases: {toolCallId, claimId, seq}',
    parse: fields,
    judge: judgeLeaseLoss,
    record: (_, event) => ({
      events: [event],
      reply: (__, seq) => ({ lost: true as const, seq }),
    }),
  }),
  changeSuspension: verb({
    description: 'From the watch of definitions: {toolCallId, offer}',
    parse: fields,
    judge: judgeOffer,
    record: (_, event) => ({
      events: [event],
      reply: (__, seq): ChangeSuspensionReply => ({ changed: true, seq }),
    }),
  }),
  resolveBatch: verb({
    description:
      'Answer all open client calls of a step: {stepId, results: [{toolCallId, resultJson | errorMessage}], actor, requestId}',
    parse: parseBatch,
    judge: judgeBatch,
    record: recordBatch,
  }),
  inboxEvent: signalVerb({
    description: 'Input of another system: {eventId, kind, payload, actor}',
    parse: parseInboxEvent,
    judge: judgeInboxEvent,
    record: recordInboxEvent,
    refusedSignal: refusedInboxEvent,
  }),
  childEnded: signalVerb({
    description: "From a sub-agent's conversation: {toolCallId, childId, end}",
    parse: parseReport,
    judge: judgeReport,
    record: recordReport,
    refusedSignal: () => undefined,
  }),
  revokeRule: verb({
    description: 'Forget a remembered decision: {ruleId, actor}',
    parse: fields,
    judge: judgeRevocation,
    record: (_, event) => ({
      events: [event],
      reply: (__, seq) => ({ ruleId: event.ruleId, seq }),
    }),
  }),
};

export type VerbName = keyof typeof ROWS;

/** Verbs whose requests may also come as signals. */
export type SignalName = {
  [Name in VerbName]: (typeof ROWS)[Name] extends { readonly refusedSignal: unknown }
    ? Name
    : never;
}[VerbName];

/** The types of a verb; each member of a union is taken by itself. */
type TypesOf<Row> =
  Row extends Verb<infer Reply, infer Refused>
    ? { readonly reply: Reply; readonly refusal: Refused }
    : never;

export type ReplyOf<Name extends VerbName> = TypesOf<(typeof ROWS)[Name]>['reply'];
export type RefusalOf<Name extends VerbName> = TypesOf<(typeof ROWS)[Name]>['refusal'];
export type OutcomeOf<Name extends VerbName> = Outcome<ReplyOf<Name>, RefusalOf<Name>>;

/** The rows; the type of each follows from its name. */
export const VERBS: { readonly [Name in VerbName]: Verb<ReplyOf<Name>, RefusalOf<Name>> } = ROWS;

export function isVerb(name: string): name is VerbName {
  return Object.hasOwn(ROWS, name);
}

export function isSignal(name: string): name is SignalName {
  return isVerb(name) && 'refusedSignal' in ROWS[name];
}
