/**
 * Derives the requests of model calls from a log: the messages that a call was given, by the record of its context.
 * Pure.
 */
import { apply } from '../../core/apply/apply.js';
import { withoutSkipped } from '../../core/context/transcript.js';
import { headLength, messagesFrom, summaryOf } from '../../core/context/turn-spans.js';
import { inboxPreview } from '../../core/state/inbox-turns.js';
import type { ConversationState } from '../../core/state/state.js';
import { isOffloaded, wholeMessages } from '../../core/state/transcript.js';
import type { ModelContext } from '../../protocol/conversation/context.js';
import type { Message } from '../../protocol/conversation/messages.js';
import { TEXTS } from '../../protocol/failures/texts.js';
import type { CanonicalEvent, ModelCallEvent } from '../../protocol/log/events.js';
import type { ShownRequest } from '../../protocol/model/model-calls.js';

/** A model call of the log, and the conversation as it was when the call was due. */
export interface LoggedCall {
  readonly event: ModelCallEvent & { readonly seq: number; readonly at: string };
  readonly agent: string;
  /** Newest last: a summary may be made while the call waits. Empty: the log does not have the time before it. */
  readonly basis: readonly ConversationState[];
}

export interface FoundCalls {
  readonly call: LoggedCall;
  /** The model call before it. Absent: it is the first. */
  readonly before?: LoggedCall;
}

/** Undefined when no event with this seq is a model call. Folds the log up to the seq, and reads no further. */
export async function callsAt(
  events: AsyncIterable<CanonicalEvent>,
  seq: number,
): Promise<FoundCalls | undefined> {
  let state: ConversationState | undefined;
  let due: { readonly key: string; readonly basis: ConversationState[] } | undefined;
  let before: LoggedCall | undefined;
  for await (const event of events) {
    if (event.seq > seq) return undefined;
    if (event.type === 'model_call') {
      const isDue = due?.key === `${event.turnId} ${event.step}`;
      const basis = isDue ? (due?.basis ?? []) : [];
      const call = { event, agent: state?.agent ?? '', basis };
      if (event.seq === seq) return { call, ...(before === undefined ? {} : { before }) };
      before = call;
    } else if (event.seq === seq && event.type !== 'log_rewritten') return undefined;
    // The messages stay where they are: this fold needs no chunk of the blob store.
    if (event.type === 'log_rewritten' || event.type === 'transcript_offloaded') continue;
    state = apply(state, event);
    const { turn } = state;
    if (turn?.phase !== 'model') continue;
    const key = `${turn.turnId} ${turn.step}`;
    if (due?.key !== key) due = { key, basis: [state] };
    else if (event.type === 'summary' || event.type === 'rolled_over') due.basis.push(state);
  }
  return undefined;
}

export type Derived =
  | { readonly request: ShownRequest; readonly unknown: readonly string[] }
  | { readonly reason: string };

const OF_DEFINITION =
  'The system prompt, the definitions of the tools and the form of the answer: those of the version of the agent that the worker ran, which the log does not keep.';
const OF_PLUGINS = 'Text that plugins of the agent added for this call alone.';
const OF_CONTEXT =
  'How much of the conversation the call was given: it was stopped, and the messages are all that it may have had.';

/** The messages of the request, and the parts of it that no log has. */
export function derivedRequest({ event, basis }: LoggedCall): Derived {
  const { context } = event;
  const state = basis.findLast((one) => ordinalOf(one) === context?.summary) ?? basis[0];
  if (state === undefined)
    return { reason: 'The log does not have the events before the call any more.' };
  const { transcript } = state;
  const all = withoutSkipped(wholeMessages(transcript));
  const given = context === undefined ? wholeOf(state, all) : givenOf(all, context);
  if (given === undefined) return { reason: 'Some of its messages are in events that were lost.' };
  const { evictedResults = 0 } = context ?? {};
  const stubs =
    evictedResults === 0
      ? []
      : [
          `Which ${evictedResults} of the results of tools were shortened to a note: all are shown whole here.`,
        ];
  return {
    request: { messages: [...given, ...previewIn(state)] },
    unknown: [OF_DEFINITION, OF_PLUGINS, ...(context === undefined ? [OF_CONTEXT] : []), ...stubs],
  };
}

function ordinalOf({ transcript }: ConversationState): number | undefined {
  return summaryOf(transcript)?.summary;
}

function wholeOf(
  { transcript }: ConversationState,
  all: readonly Message[],
): readonly Message[] | undefined {
  return transcript.some(isOffloaded) ? undefined : all;
}

/** Whole turns are left out at the front only, so the number of messages names them. */
function givenOf(
  messages: readonly Message[],
  { messages: count }: ModelContext,
): readonly Message[] | undefined {
  const isShort = count > messages.length || count < headLength(messages);
  return isShort
    ? undefined
    : messagesFrom(messages, messages.length - count + headLength(messages));
}

/** The preview of events that wait for the next turn. */
function previewIn(state: ConversationState): readonly Message[] {
  const preview = inboxPreview(state);
  const { turn } = state;
  if (preview === undefined || turn === undefined) return [];
  const text = TEXTS.pluginContext(TEXTS.inboxPreview(preview.waiting, preview.beginnings));
  const { turnId } = turn;
  return [{ role: 'user', id: `${turnId}.context`, turnId, parts: [{ type: 'text', text }] }];
}
