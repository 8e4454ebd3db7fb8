/**
 * A worker is lost with many conversations of long histories in its cache, and each of them gets a message at once, so
 * the next worker has to replay them all. Measures the timed-out tasks, the number of whole histories sent, and the
 * time until all turns have ended: with the slots of Temporal's worker, and with the engine's.
 */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { CompressionCodec, type Conversation, ConversationClient } from 'colloquy/client';
import { type Child, startChild } from 'colloquy/dev';
import { createStoreReader, openEventLog } from 'colloquy/log';
import { startBusyLoops } from '../../test/storm/busy-loops.js';
import { startDevServer } from '../../test/support/servers/dev-server.js';

export interface ReplaysOptions {
  readonly conversations: number;
  /** The minimum length of each run at the loss of the worker. */
  readonly events: number;
  /** Busy loops beside the worker. */
  readonly load: number;
  /** The number of waves for each kind of slots. */
  readonly rounds: number;
}

export const SLOTS = ['fixed', 'ours'] as const;

export interface Wave {
  readonly slots: (typeof SLOTS)[number];
  readonly conversations: number;
  /** Workflow task attempts that timed out. */
  readonly timedOut: number;
  /** Task attempts that were sent a whole history. */
  readonly replays: number;
  readonly replaysPerTurn: number;
  /** Seconds from the worker's start to the end of the last turn. */
  readonly allEnded: number;
  readonly notEnded: number;
}

/**
 * Each conversation is replayed once, and a few twice: those that the worker started before it knew the duration of a
 * replay.
 */
export const REPLAYS_BAR = 1.5;

export interface ReplaysReport {
  /** Replays for each turn, over all waves of one kind. */
  readonly replaysPerTurn: Readonly<Record<Wave['slots'], number>>;
  readonly met: boolean;
}

export function replaysReport(waves: readonly Wave[]): ReplaysReport {
  const per = (slots: Wave['slots']): number => {
    const own = waves.filter((one) => one.slots === slots);
    const sum = (of: (one: Wave) => number) => own.reduce((total, one) => total + of(one), 0);
    return sum(({ replays }) => replays) / sum(({ conversations }) => conversations);
  };
  const replaysPerTurn = { fixed: per('fixed'), ours: per('ours') };
  const isEnded = waves.every(({ slots, notEnded }) => slots === 'fixed' || notEnded === 0);
  return { replaysPerTurn, met: isEnded && replaysPerTurn.ours <= REPLAYS_BAR };
}

/** A wave is aborted after this time. */
const WAVE_MS = 180_000;
const LOOK_EVERY_MS = 250;
const AT_ONCE = 8;
const ROLLS_OVER_AT = 1_000;

export async function measureReplays(options: ReplaysOptions): Promise<readonly Wave[]> {
  const { conversations, events, rounds } = options;
  if (events > ROLLS_OVER_AT - 200) throw new Error('the runs would roll over between the waves');
  const dataDir = await mkdtemp(join(tmpdir(), 'colloquy-replays-'));
  const server = await startDevServer({ dbFile: join(dataDir, 'temporal.db') });
  const connection = await Connection.connect({ address: server.address });
  const opened = await openEventLog(join(dataDir, 'log.db'));
  const startWorker = (slots: Wave['slots']): Promise<Child> =>
    startChild({
      name: 'worker',
      args: [],
      script: fileURLToPath(new URL('./replay-worker.js', import.meta.url)),
      env: { TEMPORAL_ADDRESS: server.address, COLLOQUY_DATA: dataDir, BENCH_SLOTS: slots },
    });
  let worker = await startWorker('ours');
  try {
    const dataConverter = { payloadCodecs: [new CompressionCodec()] };
    const temporal = new Client({ connection, dataConverter });
    const reader = createStoreReader({ log: opened.log, live: opened.live, source: 'none' });
    const agents = await opened.log.agents();
    const client = new ConversationClient({ temporal, agents, reader, actor: { id: 'bench' } });
    const talks = Array.from({ length: conversations }, () =>
      client.conversation(`long-${randomUUID()}`, { agent: 'bench-quick' }),
    );
    const scene: Scene = { temporal, talks };
    await grow(scene, events);
    const waves: Wave[] = [];
    for (let round = 0; round < rounds; round += 1)
      for (const slots of SLOTS) {
        await worker.kill();
        const loops = startBusyLoops(options.load);
        try {
          worker = await startWorker(slots);
          waves.push({ slots, ...(await wave(scene)) });
        } finally {
          loops.stop();
        }
        console.error(JSON.stringify(waves.at(-1)));
      }
    return waves;
  } finally {
    await worker.stop();
    await opened.close();
    await connection.close();
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

interface Scene {
  readonly temporal: Client;
  readonly talks: readonly Conversation[];
}

async function grow({ temporal, talks }: Scene, events: number): Promise<void> {
  const waiting = [...talks];
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let talk = waiting.pop(); talk !== undefined; talk = waiting.pop()) {
        do {
          const turn = await talk.send('go');
          await turn.result({ timeout: '30s' });
        } while ((await handleOf(temporal, talk).describe()).historyLength < events);
      }
    }),
  );
}

async function wave({ temporal, talks }: Scene): Promise<Omit<Wave, 'slots'>> {
  const startedAt = performance.now();
  const lengths = await Promise.all(
    talks.map(async (talk) => (await handleOf(temporal, talk).describe()).historyLength),
  );
  const waiting = new Set(talks.map((talk) => ({ talk, requestId: randomUUID() })));
  // Signals instead of updates: a timed-out task of an update leaves nothing in the history to count.
  for (const { talk, requestId } of waiting)
    await handleOf(temporal, talk).signal('sendMessage', { text: 'go', requestId });
  while (waiting.size > 0 && performance.now() - startedAt < WAVE_MS) {
    for (const one of waiting) if (await hasEnded(one)) waiting.delete(one);
    await sleep(LOOK_EVERY_MS);
  }
  const allEnded = (performance.now() - startedAt) / 1_000;
  const counts = await Promise.all(
    talks.map((talk, index) => tasksOf(temporal, talk, lengths[index] ?? 0)),
  );
  const sum = (of: (count: Tasks) => number) =>
    counts.reduce((total, count) => total + of(count), 0);
  const replays = sum(({ whole }) => whole);
  return {
    conversations: talks.length,
    timedOut: sum(({ timedOut }) => timedOut),
    replays,
    replaysPerTurn: replays / talks.length,
    allEnded,
    notEnded: waiting.size,
  };
}

/** Whether the turn has ended for readers. */
async function hasEnded(one: {
  readonly talk: Conversation;
  readonly requestId: string;
}): Promise<boolean> {
  const { events } = await one.talk.events({ before: 'end', limit: 20 });
  const said = events.find(
    (event) => event.type === 'user_message' && event.requestId === one.requestId,
  );
  return (
    said?.type === 'user_message' &&
    events.some((event) => event.type === 'turn_ended' && event.turnId === said.turnId)
  );
}

interface Tasks {
  readonly timedOut: number;
  readonly whole: number;
}

/**
 * Counts the tasks of the newest run after an event. Attempts after the first have no events, but the scheduled event
 * has the number of the last one.
 */
async function tasksOf(temporal: Client, talk: Conversation, after: number): Promise<Tasks> {
  const { events } = await handleOf(temporal, talk).fetchHistory();
  let timedOut = 0;
  let whole = 0;
  for (const { eventId, ...event } of events ?? []) {
    if (Number(eventId) <= after) continue;
    const scheduled = event.workflowTaskScheduledEventAttributes;
    if (scheduled == null) {
      // A timeout in the queue of the lost worker is not an attempt.
      if (Number(event.workflowTaskTimedOutEventAttributes?.timeoutType) === START_TO_CLOSE)
        timedOut += 1;
      continue;
    }
    const attempt = scheduled.attempt ?? 1;
    // The first attempt that timed out has an event of its own.
    timedOut += Math.max(0, attempt - 2);
    const isWhole = Number(scheduled.taskQueue?.kind) === STICKY ? 0 : 1;
    whole += Math.max(isWhole, attempt - 1);
  }
  return { timedOut, whole };
}

/** `TIMEOUT_TYPE_START_TO_CLOSE` */
const START_TO_CLOSE = 1;
/** `TASK_QUEUE_KIND_STICKY` */
const STICKY = 2;

function handleOf(temporal: Client, { id }: Conversation) {
  return temporal.workflow.getHandle(`conversation:default:${id}`);
}
