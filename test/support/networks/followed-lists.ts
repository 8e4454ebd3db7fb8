/** Readers of the stream of a tenant's conversations over a store in memory, whose reads are counted. */
import { onTestFinished } from 'vitest';
import {
  type ConversationsDeps,
  FollowedConversations,
} from '../../../src/projection/changes/hubs.js';
import { ChangePoll } from '../../../src/projection/changes/poll.js';
import { Outages, SILENT } from '../../../src/projection/source/outages.js';
import type {
  ConversationsFilter,
  ConversationsFrame,
} from '../../../src/protocol/log/conversations-stream.js';
import type { EventBody } from '../../../src/protocol/log/events.js';
import { createLocalLiveChannel } from '../../../src/store/live/local.js';
import { tenantKey } from '../../../src/store/ports/live.js';
import type { EventLog } from '../../../src/store/ports/log.js';
import { openSqliteEventLog } from '../event-logs.js';
import { keyed } from '../samples/list-events.js';
import { stamped, started, turn } from '../samples/log-events.js';
import { until } from '../until.js';

/** So short that tests need not wait, and longer than a read takes. */
const POLL_MS = 50;

type Reads = Pick<EventLog, 'changes' | 'listedIn'>;
type Watched = AsyncIterator<ConversationsFrame>;

interface Setup {
  readonly hints?: boolean;
  /** Stands in for the reads of the store. */
  readonly reads?: (log: EventLog) => Partial<Reads>;
  readonly options?: Partial<ConversationsDeps>;
}

export async function setUp({ hints = false, reads, options }: Setup = {}) {
  const log = await openSqliteEventLog({ file: ':memory:' });
  onTestFinished(() => log.close());
  const live = createLocalLiveChannel();
  onTestFinished(() => live.close());
  const counts = { changes: 0, listedIn: 0, rows: 0 };
  const replaced = reads?.(log);
  const counted: Reads = {
    changes: async (of) => {
      counts.changes += 1;
      return await (replaced?.changes ?? log.changes.bind(log))(of);
    },
    listedIn: async (tenant, ids) => {
      counts.listedIn += 1;
      counts.rows += ids.length;
      return await (replaced?.listedIn ?? log.listedIn.bind(log))(tenant, ids);
    },
  };
  const outages = new Outages(SILENT);
  const poll = new ChangePoll(counted, outages, POLL_MS);
  const followed = new FollowedConversations({
    ...{ log: counted, poll, outages },
    ...(hints ? { live } : {}),
    ...options,
  });
  const end = new AbortController();
  onTestFinished(() => {
    end.abort();
  });
  const open = async (
    filter: ConversationsFilter & { readonly tenant?: string } = {},
    after?: string,
  ): Promise<Watched> => {
    const frames = await followed.watch(
      { tenant: 'default', ...filter },
      { after, signal: end.signal },
    );
    return frames[Symbol.asyncIterator]();
  };
  const add = async (id: string, bodies: readonly EventBody[] = turn('t'), tenant = 'default') => {
    const key = keyed(id, tenant);
    const head = await log.head(key);
    const all = head === undefined ? [started(key), ...bodies] : bodies;
    await log.append({
      ...{ ...key, runId: 'r' },
      events: stamped(all, { from: (head?.lastSeq ?? 0) + 1 }),
    });
  };
  const hint = (moved: string): void => {
    live.publish({ type: 'appended', ...tenantKey('default'), generation: 1, lastSeq: 1, moved });
  };
  return { log, live, counts, open, add, hint, end };
}

/** Takes all frames as they come. */
export function take(frames: Watched) {
  const seen: ConversationsFrame[] = [];
  const taking = async (): Promise<void> => {
    for (let next = await frames.next(); next.done !== true; next = await frames.next())
      seen.push(next.value);
  };
  void taking();
  return {
    seen,
    get told(): readonly string[] {
      return seen.filter(({ type }) => type !== 'place').map(outlineOf);
    },
    get lastId(): string | undefined {
      return seen.findLast(({ id }) => id !== undefined)?.id;
    },
  };
}

function outlineOf(frame: ConversationsFrame): string {
  if (frame.type === 'conversation')
    return `${frame.conversation.conversationId} ${frame.conversation.status} ${frame.conversation.seq}`;
  return frame.type === 'removed' ? `-${frame.conversationId}` : frame.type;
}

export async function next(frames: Watched): Promise<string> {
  const result = await frames.next();
  return result.done === true ? 'end' : outlineOf(result.value);
}

/** A second poll of those readers is over: what the first has found has been sent. */
export async function pass(counts: { readonly changes: number }, polls = 2): Promise<void> {
  const from = counts.changes;
  await until('polls', () => counts.changes >= from + polls);
}
