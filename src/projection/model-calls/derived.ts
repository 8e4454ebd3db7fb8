/**
 * Derives the requests of model calls: the messages that a call was given, from the log and its record of the context,
 * and the other parts, from the agent's definition. Pure.
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
import type { ModelDefinition } from '../../protocol/model/definitions.js';
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
  | {
      readonly request: ShownRequest;
      readonly unknown: readonly string[];
      /** Whether the request has all that the agent's definition, as it is kept, has. */
      readonly isDefined: boolean;
    }
  | { readonly reason: string };

const OF_DEFINITION =
  'The system prompt, the definitions of the tools and the form of the answer: those of the version of the agent that the worker ran';
const NOT_RECORDED = `${OF_DEFINITION}, which the log does not name.`;
const NOT_KEPT = `${OF_DEFINITION}, which the event log does not have, or has no more.`;
const OF_PLUGINS = 'Text that plugins of the agent added for this call alone.';
const OF_SYSTEM =
  'The system prompt: plugins added or hid tools for this call, and the texts of these are part of it.';
const OF_TOOLS = 'The tools: plugins or MCP servers added or hid some of them for this call.';
const OF_PROVIDERS =
  'The configuration of provider tools: it may hold credentials, and is recorded nowhere.';
const OF_OUTPUT = 'The form of the answer: the message asked for one of its own.';
const OF_CONTEXT =
  'How much of the conversation the call was given: it was stopped, and the messages are all that it may have had.';

/**
 * The request, as far as the log and the definition have it, and the parts that they do not have.
 * @param definition of the version of the agent that the worker ran; a later version may have other texts
 */
export function derivedRequest(
  { event, basis }: LoggedCall,
  definition?: ModelDefinition,
): Derived {
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
  const { request, unknown } = definedParts({ state, context, definition });
  return {
    request: { ...request, messages: [...given, ...previewIn(state)] },
    unknown: [...unknown, ...(context === undefined ? [OF_CONTEXT] : []), ...stubs],
    isDefined: unknown.every((text) => text === OF_PLUGINS || text === OF_PROVIDERS),
  };
}

/** The parts of the request that the agent's definition has, without those that this call got otherwise. */
function definedParts({
  state,
  context,
  definition,
}: {
  readonly state: ConversationState;
  readonly context: ModelContext | undefined;
  readonly definition: ModelDefinition | undefined;
}): { readonly request: Partial<ShownRequest>; readonly unknown: readonly string[] } {
  const used = context?.definition;
  if (used === undefined) return { request: {}, unknown: [NOT_RECORDED, OF_PLUGINS] };
  if (definition === undefined) return { request: {}, unknown: [NOT_KEPT, OF_PLUGINS] };
  const { system, tools, output, bareResults, prepares } = definition;
  const { changed = [] } = used;
  const form = state.turn?.outputSchema;
  const [isSystem, isTools] = [!changed.includes('system'), !changed.includes('tools')];
  const hasProviders = isTools && tools.some((tool) => 'provider' in tool);
  return {
    request: {
      ...(isSystem ? { system } : {}),
      ...(isTools ? { tools } : {}),
      ...(form === undefined && output !== undefined ? { output } : {}),
      ...(bareResults === undefined ? {} : { bareResults }),
    },
    unknown: [
      ...(isSystem ? [] : [OF_SYSTEM]),
      ...(isTools ? [] : [OF_TOOLS]),
      ...(hasProviders ? [OF_PROVIDERS] : []),
      ...(form === undefined || form === false ? [] : [OF_OUTPUT]),
      ...(prepares === true ? [OF_PLUGINS] : []),
    ],
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
