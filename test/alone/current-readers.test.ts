/**
 * Workers are killed every three seconds and replaced at once, while conversations ask one question after the other. A
 * reader in another process sees each question appear and disappear within two seconds of the moment a worker can
 * answer. `READERS_SECONDS` sets the duration.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { optionalTsToMs } from '@temporalio/common/lib/time.js';
import type { CanonicalEvent, PendingCall } from 'colloquy/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { STICKY_TIMEOUT_MS } from '../../src/protocol/limits/service-limits.js';
import { call } from '../e2e/support/api.js';
import { startWorld, type World } from '../e2e/support/world.js';
import { patient } from '../support/patience.js';
import { promise } from '../support/promise.js';
import { until } from '../support/until.js';

const CONVERSATIONS = 6;
const QUESTIONS_A_TURN = 8;
const KILL_EVERY_MS = 3_000;
const SECONDS = Number(process.env['READERS_SECONDS'] ?? 30);
/** The polls of six conversations take a tenth of a core; more often would slow the workers down. */
const LOOK_EVERY_MS = 100;
/** After the last worker was replaced. */
const LAST_LOOKS_MS = 10_000;
/**
 * Limit for the delay after a worker can answer. On a machine whose workers take longer to start, their start time is
 * the limit.
 */
const BAR_MS = 2_000;

let world: World;
/** An API process that reads from the store only; the questions are answered through another one. */
let readerUrl: string;
beforeAll(async () => {
  world = await startWorld({
    script: (_request, ask) =>
      ask > QUESTIONS_A_TURN
        ? { text: 'Thank you.' }
        : { calls: [{ name: 'customer.ask', input: { question: `Number ${ask}?` } }] },
  });
  readerUrl = (await world.startApi(0)).url;
});
afterAll(() => world.stop());

/** Times in milliseconds since 1970. */
interface Loss {
  readonly killedAt: number;
  readonly readyAt: number;
  /**
   * Where no worker was left, nothing could ask the server before, and it offers a task that is due to the lost worker
   * first (`STICKY_TIMEOUT_MS`).
   */
  readonly answerableAt: number;
}

interface Seen {
  readonly firstAt: number;
  lastAt: number;
}

/** Answers questions as soon as they appear, and records the times at which they were visible. */
class Watched {
  readonly id: string;
  readonly seen = new Map<string, Seen>();
  /** Verdicts of the answers to visible questions. */
  readonly verdicts: string[] = [];
  readonly #answered = new Set<string>();
  readonly #work = new Set<Promise<void>>();
  #turns = 0;
  #isSaying = false;
  #isShown = false;

  constructor(id: string) {
    this.id = id;
  }

  /** Polls until `signal` is aborted, and answers and sends messages until `isOver`. */
  async live(isOver: () => boolean, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const { body, status } = await call(`${readerUrl}/v1/conversations/${this.id}`);
      const at = Date.now();
      this.#isShown ||= status === 200;
      // The state of a conversation can be read once a worker has stored something of it.
      const isBegun = status === 404 || body['code'] === 'no_worker';
      if (status !== 200 && (this.#isShown || !isBegun))
        this.verdicts.push(`read ${status} ${JSON.stringify(body)}`);
      const pending = (body['pending'] ?? []) as readonly PendingCall[];
      for (const { toolCallId } of pending) this.#note(toolCallId, at);
      if (!isOver()) {
        for (const { toolCallId } of pending) this.#begin(this.#answer(toolCallId));
        if (status === 404 || body['status'] === 'idle') this.#begin(this.#say());
      }
      await sleep(LOOK_EVERY_MS);
    }
    await Promise.all(this.#work);
  }

  /** Starts work in the background, so that a hanging request does not stop the polling. */
  #begin(work: Promise<void>): void {
    this.#work.add(work);
  }

  #note(toolCallId: string, at: number): void {
    const seen = this.seen.get(toolCallId);
    if (seen === undefined) this.seen.set(toolCallId, { firstAt: at, lastAt: at });
    else seen.lastAt = at;
  }

  async #answer(toolCallId: string): Promise<void> {
    if (this.#answered.has(toolCallId)) return;
    this.#answered.add(toolCallId);
    const { body, status } = await call(
      `${world.apiUrl}/v1/conversations/${this.id}/tool-calls/${toolCallId}/resolution`,
      {
        body: {
          resolution: { type: 'answer', value: { answer: 'yes' } },
          actor: { id: 'customer' },
        },
      },
    );
    const { verdict } = body;
    this.verdicts.push(typeof verdict === 'string' ? verdict : `answer ${status}`);
  }

  async #say(): Promise<void> {
    if (this.#isSaying) return;
    this.#isSaying = true;
    const message = `${this.id} ${this.#turns}`;
    const reply = await call(`${world.apiUrl}/v1/conversations`, {
      body: { agent: 'support', id: this.id, message },
      headers: { 'idempotency-key': message },
    });
    if (reply.status === 202) this.#turns += 1;
    else this.verdicts.push(`message ${reply.status}`);
    this.#isSaying = false;
  }
}

async function killAgainAndAgain(isOver: () => boolean): Promise<readonly Loss[]> {
  const losses: Loss[] = [];
  let others = [world.stack.worker(), await world.stack.startWorker()];
  for (let nth = 1; !isOver(); nth += 1) {
    await sleep(KILL_EVERY_MS);
    // Every third round kills both workers.
    const killed = nth % 3 === 0 ? others : others.slice(0, 1);
    const killedAt = Date.now();
    await Promise.all(killed.map((worker) => worker.kill()));
    const left = others.filter((worker) => !killed.includes(worker));
    const started = await Promise.all(killed.map(() => world.stack.startWorker()));
    const readyAt = Date.now();
    const heldMs = left.length === 0 ? STICKY_TIMEOUT_MS : 0;
    losses.push({ killedAt, readyAt, answerableAt: readyAt + heldMs });
    others = [...left, ...started];
  }
  return losses;
}

/** The time for which an event was missing for a reader although a worker could have answered. */
function delayOf(
  recordedAt: number,
  seenAt: number,
  { losses, givenUpAt }: { readonly losses: readonly Loss[] } & Pick<Tasks, 'givenUpAt'>,
): number {
  const lost = losses.findLast(
    ({ killedAt }) => killedAt < seenAt && killedAt >= recordedAt - 1_000,
  );
  const givenUp = givenUpAt.findLast((at) => at > recordedAt && at <= seenAt) ?? 0;
  const answerableAt = Math.max(recordedAt, givenUp, lost?.answerableAt ?? 0);
  return seenAt - Math.min(answerableAt, seenAt);
}

function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

interface Tasks {
  /** Completion times of tasks by their start times; events carry the start time. */
  readonly completed: ReadonlyMap<number, number>;
  /**
   * Times at which the server gave up a task lost with its worker. Until then it holds queries back, so no worker can
   * answer.
   */
  readonly givenUpAt: readonly number[];
}

async function tasksOf(id: string): Promise<Tasks> {
  const handle = world.temporal.workflow.getHandle(world.talk(id).workflowId);
  const { events } = await handle.fetchHistory();
  const completed = new Map<number, number>();
  const givenUpAt: number[] = [];
  let startedAt = 0;
  for (const event of events ?? []) {
    const at = optionalTsToMs(event.eventTime) ?? 0;
    if (event.workflowTaskStartedEventAttributes != null) startedAt = at;
    if (event.workflowTaskCompletedEventAttributes != null) completed.set(startedAt, at);
    if (event.workflowTaskTimedOutEventAttributes != null) givenUpAt.push(at);
  }
  return { completed, givenUpAt };
}

async function eventsOf(id: string): Promise<readonly CanonicalEvent[]> {
  return await world.talk(id).events();
}

it('readers are current within two seconds of the moment a worker can answer, with workers killed every three seconds', {
  ...promise('G235'),
  timeout: patient(300_000),
}, async () => {
  const talks = Array.from({ length: CONVERSATIONS }, (_, nth) => new Watched(`watched-${nth}`));
  const endsAt = Date.now() + SECONDS * 1_000;
  const isOver = (): boolean => Date.now() > endsAt;
  const reading = new AbortController();
  const readers = talks.map((talk) => talk.live(isOver, reading.signal));
  const losses = await killAgainAndAgain(isOver);
  await sleep(patient(LAST_LOOKS_MS));
  reading.abort();
  await Promise.all(readers);
  const shown: number[] = [];
  const gone: number[] = [];
  for (const talk of talks) {
    const events = await until(`the log of ${talk.id} is there`, () => eventsOf(talk.id), {
      holds: (found) => found.length > 0,
    });
    const { completed, givenUpAt } = await tasksOf(talk.id);
    for (const event of events) {
      if (event.type !== 'suspension' && event.type !== 'resolution') continue;
      const { toolCallId } = event.type === 'suspension' ? event.suspension : event;
      const found = { losses, givenUpAt };
      const startedAt = Date.parse(event.at);
      const recordedAt = completed.get(startedAt) ?? startedAt;
      const seen = talk.seen.get(toolCallId);
      // Events recorded after the last poll are not counted.
      if (recordedAt > endsAt) continue;
      if (seen === undefined)
        throw new Error(`${talk.id}: ${toolCallId}, recorded at ${event.at}, was never shown`);
      if (event.type === 'suspension') shown.push(delayOf(recordedAt, seen.firstAt, found));
      else gone.push(delayOf(recordedAt, Math.max(seen.lastAt, recordedAt), found));
    }
  }
  const figures = Object.entries({ shown, gone }).map(
    ([what, delays]) =>
      `${what}: ${delays.length}, p50 ${percentile(delays, 0.5)}, p90 ${percentile(delays, 0.9)}, p99 ${percentile(delays, 0.99)}, most ${Math.max(...delays)} ms`,
  );
  expect(shown.length).toBeGreaterThan(CONVERSATIONS * 2);
  const restarts = losses.map(({ killedAt, readyAt }) => readyAt - killedAt);
  const barMs = Math.max(BAR_MS, ...restarts);
  const verdicts = countOf(talks.flatMap((talk) => talk.verdicts));
  const report = `${figures.join('; ')}; workers replaced in ${restarts.join(', ')} ms; ${JSON.stringify(verdicts)}`;
  process.stdout.write(`${report}\n`);
  expect(Object.keys(verdicts).filter((verdict) => verdict.startsWith('read'))).toEqual([]);
  expect(Math.max(...shown, ...gone), report).toBeLessThanOrEqual(barMs);
});

function countOf(words: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}
