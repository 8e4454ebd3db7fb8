/**
 * One conversation whose workflow tasks fail without end, beside healthy ones: the latency of the healthy turns before,
 * during and after it. Its input names a core revision that no worker has, so every task of it fails.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Conversation } from 'colloquy/client';
import type { Endurance } from './engine.js';

export interface FailingOptions {
  readonly conversations: number;
  /** Duration of the failing conversation. */
  readonly minutes: number;
  /** Turns started in each second, whether or not earlier ones have ended. */
  readonly rate: number;
  /** Duration of each of the two periods without a failing conversation, before and after. */
  readonly quietMinutes: number;
}

export interface Latency {
  readonly turns: number;
  readonly p50: number;
  readonly p95: number;
}

export interface FailingBeside extends FailingOptions {
  readonly before: Latency;
  readonly beside: Latency;
  readonly after: Latency;
  /** Values of the period with the failing conversation, by minute. */
  readonly p95ByMinute: readonly number[];
  /** Attempts of the failing conversation's first task. */
  readonly attempts: number;
  readonly failedTurns: number;
  /** p95 with the failing conversation, relative to the mean of before and after. */
  readonly ratio: number;
  readonly met: boolean;
}

/** The largest difference that the same load shows between two periods without a failing conversation. */
export const FAILING_BAR = 1.1;

export async function measureFailingBeside(
  engine: Endurance,
  options: FailingOptions,
): Promise<FailingBeside> {
  const { conversations, minutes, rate, quietMinutes } = options;
  const talks = Array.from({ length: conversations }, () =>
    engine.client.conversation(`healthy-${randomUUID()}`, { agent: 'bench-quick' }),
  );
  const load = new Load(talks, rate);
  await load.warmUp();
  const before = await load.stretch(quietMinutes);
  const workflowId = await startFailing(engine);
  const beside = await load.stretch(minutes);
  const handle = engine.temporal.workflow.getHandle(workflowId);
  const { raw } = await handle.describe();
  const attempts = raw.pendingWorkflowTask?.attempt ?? 0;
  await handle.terminate('end of the measurement');
  const after = await load.stretch(quietMinutes);
  const quiet = (spread(before.flat()).p95 + spread(after.flat()).p95) / 2;
  const ratio = spread(beside.flat()).p95 / quiet;
  return {
    ...options,
    before: spread(before.flat()),
    beside: spread(beside.flat()),
    after: spread(after.flat()),
    p95ByMinute: beside.map((minute) => spread(minute).p95),
    attempts,
    failedTurns: load.failed,
    ratio,
    met: ratio <= FAILING_BAR && load.failed === 0 && attempts > 3,
  };
}

/** Starts the conversation without the client, because its revision is newer than any worker. */
async function startFailing({ temporal }: Endurance): Promise<string> {
  const conversationId = `failing-${randomUUID()}`;
  const workflowId = `conversation:default:${conversationId}`;
  const settings = {
    maxSteps: 5,
    onBusy: 'reject',
    idleCloseMs: 86_400_000,
    coreRevision: 1_000_000,
  };
  await temporal.workflow.start('conversation', {
    workflowId,
    taskQueue: 'colloquy',
    args: [{ tenant: 'default', conversationId, agent: 'bench-quick', settings }],
  });
  return workflowId;
}

class Load {
  readonly #talks: readonly Conversation[];
  readonly #pauseMs: number;
  #next = 0;
  failed = 0;

  constructor(talks: readonly Conversation[], rate: number) {
    this.#talks = talks;
    this.#pauseMs = 1_000 / rate;
  }

  /** Runs one turn of each conversation, so that no measured turn starts one. */
  async warmUp(): Promise<void> {
    for (let from = 0; from < this.#talks.length; from += 10)
      await Promise.all(this.#talks.slice(from, from + 10).map((talk) => this.#turn(talk)));
    this.failed = 0;
  }

  /** Latencies in milliseconds, by the minute in which the turn began. */
  async stretch(minutes: number): Promise<number[][]> {
    const startedAt = performance.now();
    const endsAt = startedAt + minutes * 60_000;
    const found: number[][] = [];
    const open = new Set<Promise<void>>();
    for (let dueAt = startedAt; dueAt < endsAt; dueAt += this.#pauseMs) {
      await sleep(Math.max(0, dueAt - performance.now()));
      const talk = this.#talks[this.#next++ % this.#talks.length];
      if (talk === undefined) continue;
      const minute = Math.floor((dueAt - startedAt) / 60_000);
      const turn = this.#turn(talk).then((latency) => {
        if (latency !== undefined) (found[minute] ??= []).push(latency);
        open.delete(turn);
      });
      open.add(turn);
    }
    await Promise.all(open);
    return found;
  }

  async #turn(talk: Conversation): Promise<number | undefined> {
    const startedAt = performance.now();
    try {
      const turn = await talk.send('go');
      if (turn.status !== 'admitted') throw new Error(turn.status);
      const { status } = await turn.result({ timeout: '30s' });
      if (status !== 'completed') throw new Error(status);
      return performance.now() - startedAt;
    } catch (error) {
      this.failed += 1;
      console.error(`a turn failed: ${error instanceof Error ? error.message : ''}`);
      return undefined;
    }
  }
}

function spread(latencies: readonly number[]): Latency {
  const sorted = latencies.toSorted((left, right) => left - right);
  const at = (share: number): number =>
    sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN;
  return { turns: sorted.length, p50: at(0.5), p95: at(0.95) };
}
