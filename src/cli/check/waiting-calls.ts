/** Reads the waiting calls of an event log, with their plans. */

import type { PlannedCall } from '../../protocol/calls/plan.js';
import { SUSPENSION_KINDS } from '../../protocol/calls/suspensions.js';
import type { ConversationSnapshot } from '../../protocol/conversation/conversation.js';
import type { CanonicalEvent } from '../../protocol/log/events.js';
import { conversationKey } from '../../protocol/values/ids.js';
import type { EventLog } from '../../store/ports/log.js';
import type { WaitingCall } from '../../tools/definition/forecast.js';

export interface FoundCall extends WaitingCall {
  readonly tenant: string;
  readonly conversationId: string;
  readonly agent: string;
}

const PAGE_SIZE = 200;

/**
 * Every call that waits for an answer, and the calls of sequential steps behind them. Holds one conversation in memory
 * at a time.
 */
export async function* waitingCalls(
  log: Pick<EventLog, 'list' | 'readTurn'>,
): AsyncGenerator<FoundCall> {
  const seen = new Set<string>();
  for (const pendingKind of SUSPENSION_KINDS)
    for (let cursor: string | undefined, more = true; more; ) {
      const asked = { pendingKind, limit: PAGE_SIZE };
      const page = await log.list(cursor === undefined ? asked : { ...asked, cursor });
      for (const snapshot of page.conversations) {
        const key = conversationKey(snapshot);
        if (seen.has(key)) continue;
        seen.add(key);
        yield* callsOf(log, snapshot);
      }
      cursor = page.nextCursor;
      more = cursor !== undefined;
    }
}

async function* callsOf(
  log: Pick<EventLog, 'readTurn'>,
  { tenant, conversationId, agent, pending }: ConversationSnapshot,
): AsyncGenerator<FoundCall> {
  const key = { tenant, conversationId };
  const of = { tenant, conversationId, agent };
  for (const turnId of new Set(pending.map((call) => call.turnId))) {
    const plans = plansIn(await log.readTurn(key, turnId));
    for (const { toolCallId, kind, definition, agent: made } of pending) {
      const plan = plans.get(toolCallId);
      const by = made ?? agent;
      if (plan !== undefined) yield { ...of, agent: by, plan, waits: kind, definition };
    }
    for (const plan of plans.values())
      if (plan.unplanned !== undefined) yield { ...of, plan, waits: 'behind' };
  }
}

/** The present plans of a turn's calls that have not ended. */
function plansIn(events: readonly CanonicalEvent[]): ReadonlyMap<string, PlannedCall> {
  const plans = new Map<string, PlannedCall>();
  const edits = new Map<string, unknown>();
  for (const event of events)
    switch (event.type) {
      case 'tool_call':
      case 'call_planned':
        plans.set(event.call.toolCallId, event.call);
        break;
      case 'resolution':
        if (event.resolution.type === 'approve') edits.set(event.requestId, event.resolution.input);
        break;
      case 'input_edited':
      case 'input_migrated': {
        const { [event.toolCallId]: plan } = Object.fromEntries(plans);
        if (plan === undefined) break;
        const { raw: _before, ...rest } = plan;
        const { input, argsDigest, definition } = event;
        const raw = event.type === 'input_edited' ? edits.get(event.requestId) : event.raw;
        const judgedBy = definition === undefined ? {} : { definition };
        const written = raw === undefined ? {} : { raw: raw as NonNullable<PlannedCall['raw']> };
        plans.set(event.toolCallId, { ...rest, input, argsDigest, ...judgedBy, ...written });
        break;
      }
      case 'tool_result':
        // The result of a detached call only reports that it waits.
        if (event.result.status !== 'detached') plans.delete(event.toolCallId);
        break;
      default:
    }
  return plans;
}
