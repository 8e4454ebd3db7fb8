/** The conversations of a tenant that need an operator, each with the command that comes next. */
import type { Client } from '@temporalio/client';
import type { ConversationSnapshot } from '../../protocol/conversation/conversation.js';
import type { NeedsAttention, SeenTroubles } from '../../protocol/log/operations.js';
import type { EventLog } from '../../store/ports/log.js';
import type { Troubled } from '../../store/ports/troubles.js';
import type { WorkflowSource } from '../source/workflow-source.js';
import { PART_DEADLINE_MS, reasonOf } from './parts.js';
import { ofTenant, repairCommand, START_WORKER, troubledConversations } from './troubled.js';

export interface TroubleParts {
  readonly temporal: Client;
  readonly source: Pick<WorkflowSource, 'reported'>;
  readonly log: Pick<EventLog, 'list' | 'troubles'>;
}

/** Conversations of each reason. */
const NAMED = 20;
/** Timers fire within a second; a worker that has just started may be behind for some more. */
const OVERDUE_MS = 10_000;

/** @throws errors of the store. Without the server, the marks of the store are given. */
export async function lookAtTroubles(parts: TroubleParts, tenant: string): Promise<SeenTroubles> {
  const { log } = parts;
  const overdueAt = new Date(Date.now() - OVERDUE_MS).toISOString();
  const lists = [
    log.list({ tenant, pendingKind: 'outcome', limit: NAMED }),
    log.list({ tenant, deadlineBefore: overdueAt, limit: NAMED }),
    log.list({ tenant, attention: 'agent_not_served', limit: NAMED }),
  ] as const;
  const [stuck, unknown, overdue, unserved] = await Promise.all([stuckIn(parts, tenant), ...lists]);
  const { found, incomplete } = stuck;
  return {
    conversations: [
      ...found.map(stuckOf),
      ...unknown.conversations.flatMap(unknownOutcomeOf),
      ...overdue.conversations.flatMap((each) => overdueOf(each, overdueAt)),
      ...unserved.conversations.flatMap(notServedOf),
    ],
    more:
      found.length >= NAMED ||
      [unknown, overdue, unserved].some(({ nextCursor }) => nextCursor !== undefined),
    ...(incomplete === undefined ? {} : { incomplete }),
  };
}

interface Stuck {
  readonly found: readonly Troubled[];
  readonly incomplete?: string;
}

async function stuckIn({ temporal, source, log }: TroubleParts, tenant: string): Promise<Stuck> {
  try {
    // One deadline for all requests to the server.
    const found = await temporal.withDeadline(Date.now() + PART_DEADLINE_MS / 2, () =>
      troubledConversations({ client: temporal, source, log }, { limit: NAMED, tenant }),
    );
    return { found };
  } catch (error) {
    const after = { tenant, conversationId: '' };
    const marked = await log.troubles({ limit: NAMED, after });
    return { found: marked.filter((each) => each.tenant === tenant), incomplete: reasonOf(error) };
  }
}

function stuckOf({ tenant, conversationId, trouble }: Troubled): NeedsAttention {
  const { kind, attempts, since, error } = trouble;
  const why = error === undefined ? '' : `: ${error}`;
  return {
    conversationId,
    reason: kind,
    since,
    text:
      kind === 'failing'
        ? `${attempts} attempts at a task of its workflow have failed${why}`
        : `${attempts} attempts at a task of its workflow ran out of time: start more workers, or find what holds them up`,
    nextCommand: repairCommand({ tenant, conversationId }),
  };
}

function unknownOutcomeOf(snapshot: ConversationSnapshot): readonly NeedsAttention[] {
  const call = snapshot.pending.find(({ kind }) => kind === 'outcome');
  if (call === undefined) return [];
  return [
    {
      conversationId: snapshot.conversationId,
      reason: 'unknown_outcome',
      since: call.openedAt,
      text: `A run of ${call.name} was lost, and a person must report what became of it`,
      nextCommand: pendingCommand(snapshot),
    },
  ];
}

function overdueOf(snapshot: ConversationSnapshot, before: string): readonly NeedsAttention[] {
  const call = snapshot.pending.find(({ deadline }) => deadline < before);
  if (call === undefined) return [];
  return [
    {
      conversationId: snapshot.conversationId,
      reason: 'overdue',
      since: call.deadline,
      text: `The deadline of a call of ${call.name} has passed, and no worker has ended its wait`,
      nextCommand: 'npx colloquy doctor',
    },
  ];
}

function notServedOf(snapshot: ConversationSnapshot): readonly NeedsAttention[] {
  const { conversationId, agent, attention } = snapshot;
  if (attention === undefined) return [];
  return [
    {
      conversationId,
      reason: 'not_served',
      since: attention.since,
      text: `Workers run, and none of them serves its agent ${agent}`,
      nextCommand: START_WORKER,
    },
  ];
}

function pendingCommand({ tenant, conversationId }: ConversationSnapshot): string {
  return `npx colloquy pending ${conversationId}${ofTenant(tenant)}`;
}
