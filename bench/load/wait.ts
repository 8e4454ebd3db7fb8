/** Many conversations that wait for an approval, and the burst in which all of them are approved. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { collectedRss } from '../engine/collected.js';
import type { BurstResult, ParkedResult, Stillness } from '../shared/long-cells.js';
import { spreadOf } from '../shared/spread.js';
import { cpuBetween, readCpu } from './cpu.js';
import { type GrowthParts, rssOf } from './grow.js';

interface Waiting {
  readonly conversationId: string;
  readonly toolCallId: string;
}

const PARKED_AT_ONCE = 8;
const CHECKS_AT_ONCE = 16;
const LOOK_EVERY_MS = 250;
const PENDING_EVERY_MS = 20;
/** After this long without a finished conversation the rest counts as stuck. */
const STUCK_MS = 120_000;

export class Crowd {
  readonly #parts: GrowthParts;
  #waiting: Waiting[] = [];

  constructor(parts: GrowthParts) {
    this.#parts = parts;
  }

  async park(count: number): Promise<ParkedResult> {
    const startedAt = performance.now();
    const waiting: Waiting[] = [];
    await atOnce(PARKED_AT_ONCE, Array.from({ length: count }), async () => {
      const conversationId = `waiting-${randomUUID()}`;
      const { client } = this.#parts;
      const conversation = client.conversation(conversationId, { agent: 'bench-approve' });
      await conversation.send('1 call');
      waiting.push({ conversationId, toolCallId: await this.#pendingCall(conversationId) });
      if (waiting.length % 1_000 === 0) console.error(`${waiting.length} wait`);
    });
    this.#waiting = waiting;
    return { parked: waiting.length, tookMs: performance.now() - startedAt };
  }

  /** Reads the call from the log: on a busy machine a message may be queued, and its call waits a little later. */
  async #pendingCall(conversationId: string): Promise<string> {
    const giveUpAt = performance.now() + STUCK_MS;
    while (performance.now() < giveUpAt) {
      const head = await this.#parts.opened.log.head({ tenant: 'default', conversationId });
      const [pending] = head?.snapshot.pending ?? [];
      if (pending !== undefined) return pending.toolCallId;
      await sleep(PENDING_EVERY_MS);
    }
    throw new Error(`does not wait: ${conversationId}`);
  }

  /** Reads from the server only, which wakes no workflow. */
  async stillness(pids: Readonly<Record<string, number>>): Promise<Stillness> {
    const { temporal } = this.#parts;
    const sum = { running: 0, historyEvents: 0, pendingActivities: 0, pendingTasks: 0 };
    await atOnce(CHECKS_AT_ONCE, this.#waiting, async ({ conversationId }) => {
      const handle = temporal.workflow.getHandle(`conversation:default:${conversationId}`);
      const { status, historyLength, raw } = await handle.describe();
      sum.running += status.name === 'RUNNING' ? 1 : 0;
      sum.historyEvents += historyLength;
      sum.pendingActivities += raw.pendingActivities?.length ?? 0;
      sum.pendingTasks += raw.pendingWorkflowTask ? 1 : 0;
    });
    const rssBytes = Object.fromEntries(
      Object.entries(pids).map(([name, pid]) => [name, rssOf(pid)]),
    );
    return { ...sum, rssBytes };
  }

  /** Approves all of them, with `inFlight` parallel requests, and waits until each turn has ended. */
  async burst(inFlight: number, pids: Readonly<Record<string, number>>): Promise<BurstResult> {
    const { client } = this.#parts;
    const verdicts: Record<string, number> = {};
    const latencies: number[] = [];
    const sentAt = new Map<string, number>();
    const from = readCpu(pids);
    const startedAt = Date.now();
    await atOnce(inFlight, this.#waiting, async ({ conversationId, toolCallId }) => {
      const askedAt = performance.now();
      sentAt.set(conversationId, Date.now());
      const { verdict } = await client.resolve({ conversationId, toolCallId }, { type: 'approve' });
      latencies.push(performance.now() - askedAt);
      verdicts[verdict] = (verdicts[verdict] ?? 0) + 1;
    });
    const verdictsMs = Date.now() - startedAt;
    const answersMs = (await this.#lastAnswerAt()) - startedAt;
    const { byName: cpu, foreign: foreignCpu } = cpuBetween(from, readCpu(pids));
    const workerRssBytes = rssOf(pids['worker'] ?? 0);
    const judged = await this.#judged(sentAt, startedAt);
    const workerHeldBytes = await collectedRss(pids['worker'], this.#parts.logFile);
    this.#waiting = [];
    const latency = spreadOf(latencies);
    const memory = { workerRssBytes, workerHeldBytes };
    return { verdicts, verdictsMs, answersMs, latency, judged, ...memory, cpu, foreignCpu };
  }

  /** When each answer was taken, according to its conversation: also those whose senders were answered before. */
  async #judged(
    sentAt: ReadonlyMap<string, number>,
    startedAt: number,
  ): Promise<BurstResult['judged']> {
    const waits: number[] = [];
    let lastMs = 0;
    for (const { conversationId, toolCallId } of this.#waiting) {
      const { log } = this.#parts.opened;
      const read = await log.read({ tenant: 'default', conversationId });
      const taken = read?.events.filter(
        (event) => event.type === 'resolution' && event.toolCallId === toolCallId,
      );
      if (taken?.length !== 1)
        throw new Error(`${conversationId} has ${taken?.length ?? 0} answers`);
      const at = Date.parse(taken[0]?.at ?? '');
      lastMs = Math.max(lastMs, at - startedAt);
      waits.push(at - (sentAt.get(conversationId) ?? startedAt));
    }
    return { count: waits.length, lastMs, wait: spreadOf(waits) };
  }

  /** The end of the last turn according to its conversation, once the log has all of them. */
  async #lastAnswerAt(): Promise<number> {
    const { log } = this.#parts.opened;
    let left: readonly Waiting[] = this.#waiting;
    let lastAt = 0;
    let progressAt = performance.now();
    while (left.length > 0) {
      const open: Waiting[] = [];
      for (const waiting of left) {
        const { conversationId } = waiting;
        const head = await log.head({ tenant: 'default', conversationId });
        if (head?.snapshot.status !== 'idle') open.push(waiting);
        else lastAt = Math.max(lastAt, Date.parse(head.snapshot.updatedAt));
      }
      if (open.length < left.length) progressAt = performance.now();
      if (performance.now() - progressAt > STUCK_MS)
        throw new Error(`${open.length} turns do not end: ${open[0]?.conversationId ?? ''}`);
      left = open;
      await sleep(LOOK_EVERY_MS);
    }
    return lastAt;
  }
}

async function atOnce<Item>(
  lanes: number,
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < items.length) {
      const item = items[next] as Item;
      next += 1;
      await work(item);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}
