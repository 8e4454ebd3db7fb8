/** Records histories of waiting calls while workers and APIs are killed. */
import { fileURLToPath } from 'node:url';
import { startWorld, type World } from '../e2e/support/world.js';
import { type Means, type Recorded, recordConversation } from './conversation.js';
import type { History } from './history.js';
import { Clients, Killed } from './processes.js';

const AGENTS = fileURLToPath(new URL('./agents.ts', import.meta.url));
const CLIENTS = 4;
const PROGRESS_MS = 10_000;

export interface RecordOptions {
  readonly seed: number;
  readonly histories: number;
  /** Conversations at once. */
  readonly lanes: number;
  readonly onProgress: (line: string) => void;
}

export interface Recording {
  readonly histories: readonly History[];
  readonly kills: Readonly<Record<string, number>>;
  /** Requests that had no effect for sure, and are in no history. */
  readonly unsent: number;
  /** Conversations that did not come to their end, with the reasons. */
  readonly stuck: readonly string[];
}

/** @throws when the processes cannot be started */
export async function record(options: RecordOptions): Promise<Recording> {
  // Patience 1: an answer becomes a signal after three seconds without a worker, as in production.
  const world = await startWorld({ agents: AGENTS, env: { COLLOQUY_PATIENCE: '1' } });
  try {
    const killed = await Killed.start(world);
    const clients = new Clients(CLIENTS, killed.urls);
    const killAll = (): void => clients.stop();
    process.once('exit', killAll);
    try {
      return await recordIn(options, { world, killed, clients });
    } finally {
      clients.stop();
      process.off('exit', killAll);
    }
  } finally {
    await world.stop();
  }
}

async function recordIn(
  { seed, histories: wanted, lanes, onProgress }: RecordOptions,
  by: { readonly world: World; readonly killed: Killed; readonly clients: Clients },
): Promise<Recording> {
  const { world, killed, clients } = by;
  const zero = String(process.hrtime.bigint());
  const means: Means = { clients, urls: killed.urls, zero };
  const recorded: Recorded[] = [];
  const stuck: string[] = [];
  const count = (): number => recorded.reduce((sum, { calls }) => sum + calls.length, 0);
  const killCount = (): number => Object.values(killed.kills).reduce((sum, one) => sum + one, 0);
  const ended = new AbortController();
  const striking = killed.strike(seed, ended.signal);
  const progress = setInterval(() => {
    onProgress(`${count()} of ${wanted} histories, ${killCount()} kills, ${stuck.length} stuck`);
  }, PROGRESS_MS);
  let next = 0;
  const lane = async (): Promise<void> => {
    while (count() < wanted && stuck.length < lanes) {
      const number = next;
      next += 1;
      const of = { id: `race-${seed}-${number}`, seed: seed * 10_000 + number };
      await recordConversation(means, of).then(
        (one) => recorded.push(one),
        (error: unknown) => stuck.push(String(error)),
      );
    }
  };
  try {
    await Promise.all(Array.from({ length: lanes }, lane));
  } finally {
    clearInterval(progress);
    ended.abort();
    await striking;
  }
  const runs = await world.lines('runs.jsonl');
  const effectsOf = (conversationId: string, toolCallId: string): number =>
    runs.filter(
      (run) => run['conversationId'] === conversationId && run['toolCallId'] === toolCallId,
    ).length;
  const histories = recorded.flatMap(({ conversationId, calls }) =>
    calls.map(({ toolCallId, history }) => ({
      ...history,
      log: { ...history.log, effects: effectsOf(conversationId, toolCallId) },
    })),
  );
  const unsent = recorded.reduce((sum, one) => sum + one.unsent, 0);
  return { histories, kills: killed.kills, unsent, stuck };
}
