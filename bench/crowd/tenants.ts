/** A tenant whose conversations go on at their pace, while another one sends more than the workers can take. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConversationClient } from 'colloquy/client';
import type { TenantsRequest, TenantsResult } from '../shared/long-cells.js';
import { spreadOf } from '../shared/spread.js';

const AGENT = 'bench-a';
/** Milliseconds between two messages of the quiet tenant. */
const PACE_MS = 250;
/** Turns of the other tenant that run at the same time when it is busy, and not more than that. */
const BUSY_AT_ONCE = 8;
const TURN_MS = 300_000;

async function turn(client: ConversationClient, tenant: string): Promise<number> {
  const begun = performance.now();
  const conversation = client.conversation(`${tenant}-${randomUUID()}`, { agent: AGENT, tenant });
  for (;;) {
    try {
      await (await conversation.send('Hello')).result({ timeout: TURN_MS });
      return performance.now() - begun;
    } catch (error) {
      const { retryable, retryAfterMs } = error as { retryable?: boolean; retryAfterMs?: number };
      if (retryable !== true) throw error;
      await sleep(retryAfterMs ?? 500);
    }
  }
}

/** Milliseconds of each turn of the quiet tenant, until the signal aborts. */
async function quietly(client: ConversationClient, signal: AbortSignal): Promise<number[]> {
  const turns: Promise<number>[] = [];
  while (!signal.aborted) {
    turns.push(turn(client, 'quiet'));
    await sleep(PACE_MS);
  }
  return await Promise.all(turns);
}

async function beside(
  client: ConversationClient,
  work: () => Promise<void>,
): Promise<readonly number[]> {
  const end = new AbortController();
  const latencies = quietly(client, end.signal);
  try {
    await work();
  } finally {
    end.abort();
  }
  return await latencies;
}

export async function measureTenants(
  { flood, seconds }: TenantsRequest,
  client: ConversationClient,
): Promise<TenantsResult> {
  await beside(client, () => sleep(3_000));
  const alone = await beside(client, () => sleep(1_000 * seconds));
  const ended = { busy: 0, flooded: 0 };
  const busy = await beside(client, async () => {
    const until = performance.now() + 1_000 * seconds;
    const lane = async (): Promise<void> => {
      while (performance.now() < until) {
        await turn(client, 'other');
        ended.busy += 1;
      }
    };
    await Promise.all(Array.from({ length: BUSY_AT_ONCE }, lane));
  });
  const flooded = await beside(client, async () => {
    const asked = Array.from({ length: flood }, async () => {
      await turn(client, 'other');
      ended.flooded += 1;
    });
    // The rest ends with the processes: only the turns of the quiet tenant count.
    for (const one of asked) one.catch(() => undefined);
    await Promise.race([Promise.all(asked), sleep(1_000 * seconds)]);
  });
  const of = (latencies: readonly number[]) => ({
    turns: latencies.length,
    latency: spreadOf(latencies),
  });
  return { flood, ended, alone: of(alone), busy: of(busy), flooded: of(flooded) };
}
