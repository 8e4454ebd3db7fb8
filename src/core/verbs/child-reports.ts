/** The report of a sub-agent's conversation that has ended: read, judged and recorded. Pure. */
import type { ChildEnd, ChildEndedReply } from '../../protocol/conversation/children.js';
import { isRecord } from '../../protocol/values/json.js';
import { childOf } from '../children/children.js';
import { childEndedEvents } from '../events/children.js';
import { aNumber, aText, oneOf, optional, recordOf } from '../input/form.js';
import { fieldsOf } from '../input/plain-input.js';
import { invalidRequest, type Judged, type Parsed, type Refusal } from '../judge/judged.js';
import type { ChildRecord } from '../state/children.js';
import type { ConversationState } from '../state/state.js';
import type { Recorded } from './verb.js';

interface Report {
  readonly childId: string;
  readonly end: ChildEnd;
}

const REPORT = recordOf({
  childId: aText,
  end: recordOf({
    status: oneOf('completed', 'failed', 'cancelled'),
    text: aText,
    error: optional(recordOf({ code: aText, message: aText })),
    usage: recordOf({ inputTokens: aNumber, outputTokens: aNumber, costMicros: optional(aNumber) }),
    calls: optional(aNumber),
  }),
});

export function parseReport(input: unknown): Parsed<Report, Refusal> {
  const problem = REPORT(input);
  if (problem !== undefined) return invalidRequest(`the report is invalid: ${problem}`);
  const { childId, end } = fieldsOf(input);
  return { request: { childId: String(childId), end: end as ChildEnd } };
}

/** Reports of conversations that this one has not begun, or whose end it knows, change nothing. */
export function judgeReport(
  state: ConversationState,
  { childId, end }: Report,
): Judged<{ readonly child: ChildRecord; readonly end: ChildEnd }, Refusal> {
  const child = state.closed ? undefined : childOf(state, childId);
  if (child === undefined) return invalidRequest(`no sub-agent runs in conversation "${childId}"`);
  return { accepted: { child, end: plainEnd(end) } };
}

export function recordReport(
  state: ConversationState,
  { child, end }: { readonly child: ChildRecord; readonly end: ChildEnd },
): Recorded<ChildEndedReply> {
  const { childId } = child;
  return { events: childEndedEvents(state, child, end), reply: (_, seq) => ({ childId, seq }) };
}

/** Known fields only. */
function plainEnd({ status, text, output, error, usage, calls }: ChildEnd): ChildEnd {
  return {
    ...{ status, text, usage },
    ...(output === undefined ? {} : { output }),
    ...(isRecord(error) ? { error } : {}),
    ...(calls === undefined ? {} : { calls }),
  };
}
