/**
 * `npm run bench -- --only readers`: 500 readers of event streams at one API process, while 20 messages a second are
 * answered in their conversations, for a minute: what is lost, how late events are, and the memory and the event loop of
 * the API; beside a process that only writes as many frames.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Stack, startStack } from 'colloquy/dev';
import { freePort, startDevServer } from '../../test/support/servers/dev-server.js';
import type { Asked } from '../stream/server.js';
import {
  CONVERSATIONS,
  MESSAGES_PER_SECOND,
  PACE_MS,
  type ReadersResult,
  type Seen,
  type Serving,
  TOKENS,
} from './cells.js';

const ANSWER: Asked = { tokens: TOKENS, paceMs: PACE_MS };
const SAMPLE_MS = 10_000;
const CATCH_UP_MS = 30_000;
const AGENT = 'bench-streaming-chat';

const script = (path: string): string => fileURLToPath(new URL(`${path}.js`, import.meta.url));

async function next<Value>(child: ChildProcess): Promise<Value> {
  return await new Promise((resolve, reject) => {
    child.once('message', (value) => resolve(value as Value));
    child.once('exit', (code) => reject(new Error(`a process ended with ${String(code)}`)));
  });
}

async function ask<Value>(child: ChildProcess): Promise<Value> {
  const answer = next<Value>(child);
  child.send('report');
  return await answer;
}

/** Starts everything that it needs. */
export async function measureReaders(seconds: number): Promise<ReadersResult> {
  const floor = await measureFloor(seconds);
  const dataDir = await mkdtemp(join(tmpdir(), 'colloquy-readers-'));
  const model = fork(script('../stream/server'));
  const modelUrl = await next<string>(model);
  const server = await startDevServer({ dbFile: join(dataDir, 'temporal.db') });
  const metrics = `127.0.0.1:${await freePort()}`;
  const stack = await startStack({
    agentsModule: script('../stream/agent'),
    dataDir,
    apiPort: 0,
    temporalAddress: server.address,
    env: { BENCH_MODEL_URL: modelUrl, COLLOQUY_API_METRICS: metrics },
    onLine: (line, from) => {
      if (/"level":(40|50|60)|ERROR|WARN/.test(line)) console.error(`${from}: ${line}`);
    },
  });
  try {
    return { ...(await measureEngine(stack, { seconds, metrics: `http://${metrics}` })), floor };
  } finally {
    await stack.stop();
    await server.stop();
    model.disconnect();
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function measureFloor(seconds: number): Promise<ReadersResult['floor']> {
  const broadcast = fork(script('./broadcast'));
  const crowd = fork(script('./readers'), [`${await next<string>(broadcast)}/{n}`, 'none']);
  try {
    await next(crowd);
    broadcast.send('begin');
    await sleep(1_000 * seconds);
    const serving = await ask<Serving>(broadcast);
    return { ...serving, frames: (await ask<Seen>(crowd)).frames };
  } finally {
    crowd.disconnect();
    broadcast.disconnect();
  }
}

async function measureEngine(
  { apiUrl, apiHeaders }: Stack,
  { seconds, metrics }: { readonly seconds: number; readonly metrics: string },
): Promise<Omit<ReadersResult, 'floor'>> {
  const base = `${apiUrl}/v1/conversations`;
  const headers = { ...apiHeaders, 'content-type': 'application/json' };
  const say = async (path: string, body: object): Promise<boolean> => {
    const response = await fetch(`${base}${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    await response.arrayBuffer();
    return response.ok;
  };
  const text = JSON.stringify(ANSWER);
  const ids = Array.from({ length: CONVERSATIONS }, (_, index) => `c${index}`);
  for (const id of ids)
    if (!(await say('?wait=result', { id, agent: AGENT, message: text })))
      throw new Error(`${id} has not begun`);
  const crowd = fork(script('./readers'), [`${base}/c{n}/events`, apiHeaders.authorization]);
  try {
    await next(crowd);
    // The delays of what was said before are none.
    crowd.send('forget');
    const serving = sampled(metrics);
    const sent: Promise<boolean>[] = [];
    const count = seconds * MESSAGES_PER_SECOND;
    const begun = performance.now();
    for (let index = 0; index < count; index += 1) {
      await sleep(Math.max(0, begun + (1_000 * index) / MESSAGES_PER_SECOND - performance.now()));
      sent.push(say(`/c${index % CONVERSATIONS}/messages`, { text, onBusy: 'queue' }));
    }
    const refused = (await Promise.all(sent)).filter((taken) => !taken).length;
    const api = await serving.end();
    const { seen, lost } = await caughtUp(crowd, ids, async (id) => {
      const response = await fetch(`${base}/${id}/events?before=end&limit=1`, { headers });
      const { events } = (await response.json()) as { readonly events: { seq: number }[] };
      return events[0]?.seq ?? 0;
    });
    return { seconds, messages: count, refused, lost, seen, api };
  } finally {
    crowd.disconnect();
  }
}

/** Waits until the turns have ended and their events were read. */
async function caughtUp(
  crowd: ChildProcess,
  ids: readonly string[],
  lengthOf: (id: string) => Promise<number>,
): Promise<{ readonly seen: Seen; readonly lost: number }> {
  const giveUpAt = performance.now() + CATCH_UP_MS;
  for (;;) {
    await sleep(2_000);
    const lengths = await Promise.all(ids.map(lengthOf));
    const seen = await ask<Seen>(crowd);
    const behind = seen.lastIds.map((id, reader) => {
      const length = lengths[reader % CONVERSATIONS] ?? 0;
      return Math.max(0, length - Number(id.split('-')[1] ?? 0));
    });
    const lost = behind.reduce((sum, count) => sum + count, 0);
    const after = await Promise.all(ids.map(lengthOf));
    const isStill = after.every((length, index) => length === lengths[index]);
    if ((lost === 0 && isStill) || performance.now() > giveUpAt) return { seen, lost };
  }
}

function sampled(metrics: string): { end(): Promise<Serving> } {
  const samples: { rss: number; p99: number; max: number }[] = [];
  const sample = async (): Promise<void> => {
    const text = await (await fetch(`${metrics}/metrics`)).text();
    const value = (name: string): number =>
      Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
    samples.push({
      rss: value('process_resident_memory_bytes'),
      p99: value('nodejs_eventloop_lag_p99_seconds') * 1_000,
      max: value('nodejs_eventloop_lag_max_seconds') * 1_000,
    });
  };
  const first = sample();
  const timer = setInterval(() => void sample(), SAMPLE_MS);
  return {
    end: async () => {
      clearInterval(timer);
      await first;
      await sample();
      const rss = samples.map((each) => each.rss);
      // The first sample is of the time before.
      const later = samples.slice(1);
      return {
        rssBytes: { first: rss[0] ?? 0, last: rss.at(-1) ?? 0, most: Math.max(...rss) },
        loopDelayP99Ms: Math.max(...later.map(({ p99 }) => p99)),
        loopDelayMaxMs: Math.max(...later.map(({ max }) => max)),
      };
    },
  };
}
