/** Drives one conversation for a long time, and takes samples of its growth. */
import { randomUUID } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import type { Client } from '@temporalio/client';
import type { CanonicalEvent, ConversationClient } from 'colloquy/client';
import type { OpenLog } from 'colloquy/log';
import { collectedRss } from '../engine/collected.js';
import {
  type GrowthOrder,
  type GrowthRequest,
  type GrowthResult,
  type GrowthSample,
} from '../shared/long-cells.js';
import { wordsOf } from '../shared/words.js';
import { cpuBetween, readCpu } from './cpu.js';
import { Histories } from './histories.js';
import { replayTime } from './replay-time.js';

export interface GrowthParts {
  readonly temporal: Client;
  readonly client: ConversationClient;
  readonly opened: OpenLog;
  readonly logFile: string;
  readonly pids: Readonly<Record<string, number>>;
}

type Conversation = ReturnType<ConversationClient['conversation']>;

/**
 * Turns of another conversation before the measurement, because the first turns of a worker cost more than those of a
 * conversation.
 */
const WARM_UP_TURNS = 20;

export async function measureGrowth(
  request: GrowthRequest,
  parts: GrowthParts,
): Promise<GrowthResult> {
  const { agent } = request;
  const warmUp = parts.client.conversation(`bench-warm-${randomUUID()}`, { agent });
  await drive(warmUp, { ...request, turns: WARM_UP_TURNS }, () => Promise.resolve());
  const conversationId = `bench-growing-${randomUUID()}`;
  const meter = new Meter(conversationId, parts);
  const samples = [await meter.before()];
  const every = Math.max(1, Math.floor(request.turns / request.samples));
  const latencies: number[] = [];
  const cpuFrom = readCpu(parts.pids);
  const after = async (turn: number, latency: number): Promise<void> => {
    latencies.push(latency);
    if (turn % every !== 0 && turn !== request.turns) return;
    const sample = await meter.sample(turn);
    samples.push(sample);
    console.error(lineOf(sample, latencies.slice(-every)));
  };
  const begun = parts.client.conversation(conversationId, { agent });
  await drive(begun, request, after);
  const foreignCpu = cpuBetween(cpuFrom, readCpu(parts.pids)).foreign;
  await begun.close();
  const { longest } = meter.histories;
  if (longest === undefined) throw new Error('no history was read');
  const longestRun = {
    events: longest.history.events?.length ?? 0,
    bytes: longest.bytes,
    replayMs: await replayTime(longest.history),
  };
  return { latencies, samples, longestRun, foreignCpu };
}

function lineOf(sample: GrowthSample, latencies: readonly number[]): string {
  const mean = latencies.reduce((sum, value) => sum + value, 0) / Math.max(1, latencies.length);
  const { turns, runs, historyBytes, workerRssBytes, workerHeldBytes } = sample;
  const history = `history ${(historyBytes / 1_024).toFixed(0)} KB in ${runs} runs`;
  const megabytes = (bytes: number): string => (bytes / 1_048_576).toFixed(0);
  const rss = `worker ${megabytes(workerRssBytes)}, collected ${megabytes(workerHeldBytes)} MB`;
  return `turn ${turns}: mean ${mean.toFixed(1)} ms, ${history}, ${rss}`;
}

/** Runs the turns one after the other. @throws when a turn ends in an unexpected way */
async function drive(
  conversation: Conversation,
  request: GrowthRequest,
  after: (turn: number, latency: number) => Promise<void>,
): Promise<void> {
  const { turns, calls, bytes, gatedEvery } = request;
  for (let turn = 1; turn <= turns; turn += 1) {
    const gated = gatedEvery > 0 && turn % gatedEvery === 0;
    const startedAt = performance.now();
    await takeTurn(conversation, { turn, calls, gated, bytes });
    await after(turn, performance.now() - startedAt);
  }
}

async function takeTurn(conversation: Conversation, order: GrowthOrder): Promise<void> {
  const text = wordsOf(`message ${order.turn}`, order.bytes / 2);
  const sent = await conversation.send(`${JSON.stringify(order)}\n${text}`);
  if (sent.status !== 'admitted') throw wrong('the message was not admitted', sent);
  let result = await sent.result();
  if (order.gated) {
    if (result.status !== 'waiting') throw wrong('the turn does not wait', result);
    const toolCallId = result.pending[0]?.toolCallId ?? '';
    const { verdict } = await conversation.resolve(toolCallId, { type: 'approve' });
    if (verdict !== 'accepted') throw wrong('the approval was not accepted', verdict);
    result = await sent.result({ returnWhenWaiting: false });
  }
  const wanted = wordsOf(`answer ${order.turn}`, order.bytes / 2);
  if (result.status !== 'completed' || result.text !== wanted)
    throw wrong('the turn did not complete', result);
}

function wrong(what: string, got: unknown): Error {
  return new Error(`${what}: ${JSON.stringify(got).slice(0, 500)}`);
}

class Meter {
  readonly histories: Histories;
  readonly #parts: GrowthParts;
  readonly #key: { readonly tenant: string; readonly conversationId: string };
  #afterSeq = 0;
  #contentBytes = 0;

  constructor(conversationId: string, parts: GrowthParts) {
    this.#parts = parts;
    this.#key = { tenant: 'default', conversationId };
    this.histories = new Histories(parts.temporal, `conversation:default:${conversationId}`);
  }

  async before(): Promise<GrowthSample> {
    const nothing = { events: 0, bytes: 0, modelCalls: 0, modelBytes: 0, runs: 0 };
    return this.#sampleWith(0, nothing, await this.#log());
  }

  async sample(turns: number): Promise<GrowthSample> {
    return this.#sampleWith(turns, await this.histories.sum(), await this.#log());
  }

  async #sampleWith(
    turns: number,
    sum: Awaited<ReturnType<Histories['sum']>>,
    log: { readonly snapshotBytes: number },
  ): Promise<GrowthSample> {
    const { pids, logFile } = this.#parts;
    const cpu = readCpu(pids).byName;
    const workerRssBytes = rssOf(pids['worker']);
    const { runs, events, bytes, modelCalls, modelBytes } = sum;
    return {
      turns,
      runs,
      historyEvents: events,
      historyBytes: bytes,
      modelCalls,
      modelBytes,
      storeBytes: sizeOf(logFile) + sizeOf(`${logFile}-wal`),
      snapshotBytes: log.snapshotBytes,
      logEvents: this.#afterSeq,
      contentBytes: this.#contentBytes,
      workerRssBytes,
      workerHeldBytes: await collectedRss(pids['worker'], logFile),
      cpu,
    };
  }

  /** Reads the new events of the log. */
  async #log(): Promise<{ readonly snapshotBytes: number }> {
    const { log } = this.#parts.opened;
    for (let more = true; more; ) {
      const read = await log.read(this.#key, { afterSeq: this.#afterSeq });
      for (const event of read?.events ?? []) {
        this.#afterSeq = event.seq;
        this.#contentBytes += contentBytes(event);
      }
      more = read?.more ?? false;
    }
    const head = await log.head(this.#key);
    return { snapshotBytes: Buffer.byteLength(JSON.stringify(head?.snapshot ?? '')) };
  }
}

/** The size of the content in an event, without the fields that the engine adds. */
function contentBytes(event: CanonicalEvent): number {
  switch (event.type) {
    case 'user_message':
    case 'assistant_message':
      return jsonBytes(event.parts);
    case 'tool_result':
      return jsonBytes(event.result.envelope);
    case 'state_patch':
      return jsonBytes(event.changes);
    default:
      return 0;
  }
}

function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

/** Resident memory of a process, from /proc; 0 elsewhere. */
export function rssOf(pid: number | undefined): number {
  try {
    const text = readFileSync(`/proc/${pid ?? 0}/status`, 'utf8');
    return 1_024 * Number(/^VmRSS:\s+(\d+)/m.exec(text)?.[1] ?? 0);
  } catch {
    return 0;
  }
}
