/**
 * `npm run bench -- --only spaces`: 1,000 spaces with ten members each, one reader for each space, and 20 messages a
 * second for a minute: what is lost, how late messages are, first among people, then with an agent in each space, which
 * every message wakes. Beside a process that only stores and sends.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startStack } from 'colloquy/dev';
import { startDevServer } from '../../test/support/servers/dev-server.js';
import { spreadOf } from '../shared/spread.js';
import {
  MEMBERS,
  MESSAGES_PER_SECOND,
  type Read,
  SPACES,
  type SpacesResult,
  type SpacesRun,
  TEXT,
} from './cells.js';

const CATCH_UP_MS = 60_000;
const AGENT = 'bench-listener';
const SPACES_AT_ONCE = 16;

const script = (path: string): string => fileURLToPath(new URL(`${path}.js`, import.meta.url));

async function next<Value>(child: ChildProcess): Promise<Value> {
  return await new Promise((resolve, reject) => {
    child.once('message', (value) => resolve(value as Value));
    child.once('exit', (code) => reject(new Error(`a process ended with ${String(code)}`)));
  });
}

async function ask<Value>(child: ChildProcess, message: object | string): Promise<Value> {
  const answer = next<Value>(child);
  child.send(message);
  return await answer;
}

type Woken = NonNullable<SpacesRun['woken']>;

interface Site {
  readonly authorization: string;
  /** Address of each space's stream, and of its messages. */
  readonly rooms: readonly { readonly stream: string; readonly messages: string }[];
}

/** Starts everything that it needs. */
export async function measureSpaces(seconds: number, spaces = SPACES): Promise<SpacesResult> {
  const floor = await measureFloor(seconds, spaces);
  const dataDir = await mkdtemp(join(tmpdir(), 'colloquy-spaces-'));
  const server = await startDevServer({ dbFile: join(dataDir, 'temporal.db') });
  const stack = await startStack({
    agentsModule: script('./agent'),
    dataDir,
    apiPort: 0,
    temporalAddress: server.address,
    // One caller plays all members.
    env: { COLLOQUY_REQUEST_LIMIT: 'off' },
    onLine: (line, from) => {
      if (/"level":(40|50|60)|ERROR|WARN/.test(line)) console.error(`${from}: ${line}`);
    },
  });
  try {
    const api = apiOf(stack.apiUrl, stack.apiHeaders.authorization);
    const people = await measured(await openSpaces(api, spaces, 'people'), seconds);
    const site = await openSpaces(api, spaces, 'agents');
    const run = await measured(site, seconds);
    const agents = { ...run, woken: await woken(api, spaces, run.messages - run.refused) };
    return { seconds, spaces, people, agents, floor };
  } finally {
    await stack.stop();
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function measureFloor(seconds: number, spaces: number): Promise<SpacesRun> {
  const folder = await mkdtemp(join(tmpdir(), 'colloquy-spaces-floor-'));
  const process = fork(script('./floor'), [join(folder, 'floor.db')]);
  try {
    const url = await next<string>(process);
    const rooms = Array.from({ length: spaces }, (_, index) => ({
      stream: `${url}/${index}`,
      messages: `${url}/${index}`,
    }));
    return await measured({ authorization: 'none', rooms }, seconds);
  } finally {
    process.disconnect();
    await rm(folder, { recursive: true, force: true });
  }
}

interface Api {
  readonly url: string;
  readonly authorization: string;
  call<Answer>(path: string, body?: object): Promise<Answer>;
}

function apiOf(url: string, authorization: string): Api {
  const headers = { authorization, 'content-type': 'application/json' };
  return {
    url,
    authorization,
    call: async <Answer>(path: string, body?: object) => {
      const response = await fetch(`${url}${path}`, {
        headers,
        ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
      });
      if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
      return (await response.json()) as Answer;
    },
  };
}

async function openSpaces(api: Api, spaces: number, kind: 'people' | 'agents'): Promise<Site> {
  const rooms: { stream: string; messages: string }[] = [];
  const open = async (index: number): Promise<void> => {
    const { id } = await api.call<{ readonly id: string }>('/v1/spaces', {
      name: `${kind} ${index}`,
    });
    const path = `/v1/spaces/${id}`;
    for (let member = 1; member < MEMBERS - 1; member += 1)
      await api.call(`${path}/members`, { member: { kind: 'person', id: `p${member}` } });
    const conversationId = `listener-${index}`;
    await api.call(`${path}/members`, {
      member:
        kind === 'agents'
          ? { kind: 'agent', conversationId, agent: AGENT }
          : { kind: 'person', id: 'p9' },
    });
    rooms[index] = {
      stream: `${api.url}${path}/stream?after=0`,
      messages: `${api.url}${path}/messages`,
    };
  };
  const left = Array.from({ length: spaces }, (_, index) => index);
  await Promise.all(
    Array.from({ length: SPACES_AT_ONCE }, async () => {
      for (let index = left.pop(); index !== undefined; index = left.pop()) await open(index);
    }),
  );
  return { authorization: api.authorization, rooms };
}

/** Sends messages to all spaces in turn, at the same pace however long the answers take. */
async function measured({ authorization, rooms }: Site, seconds: number): Promise<SpacesRun> {
  const readers = fork(script('./readers'));
  const headers = { authorization, 'content-type': 'application/json' };
  try {
    await ask(readers, { urls: rooms.map(({ stream }) => stream), authorization });
    const answers: Promise<number | undefined>[] = [];
    const messages = seconds * MESSAGES_PER_SECOND;
    const begun = performance.now();
    for (let index = 0; index < messages; index += 1) {
      await sleep(Math.max(0, begun + (1_000 * index) / MESSAGES_PER_SECOND - performance.now()));
      const sentAt = performance.now();
      const url = rooms[index % rooms.length]?.messages ?? '';
      const body = JSON.stringify({ text: `${TEXT} @${Date.now()}` });
      const answer = fetch(url, { method: 'POST', headers, body }).then(async (response) => {
        await response.arrayBuffer();
        return response.ok ? performance.now() - sentAt : undefined;
      });
      answers.push(answer);
    }
    const times = await Promise.all(answers);
    const taken = times.filter((time) => time !== undefined);
    const read = await caughtUp(readers, taken.length);
    return {
      messages,
      refused: messages - taken.length,
      lost: taken.length - read.messages,
      read,
      answered: spreadOf(taken),
    };
  } finally {
    readers.disconnect();
  }
}

async function caughtUp(readers: ChildProcess, messages: number): Promise<Read> {
  const giveUpAt = performance.now() + CATCH_UP_MS;
  for (;;) {
    const read = await ask<Read>(readers, 'report');
    if (read.messages >= messages || performance.now() > giveUpAt) return read;
    await sleep(500);
  }
}

interface InboxEvent {
  readonly type: string;
  readonly at: string;
  readonly payload?: { readonly messageId: string; readonly createdAt: string };
}

/** The texts that the agents got, by the logs of their conversations. */
async function woken(api: Api, spaces: number, expected: number): Promise<Woken> {
  const giveUpAt = performance.now() + CATCH_UP_MS;
  for (;;) {
    const delays: number[] = [];
    const seen = new Set<string>();
    let repeated = 0;
    for (let index = 0; index < spaces; index += 1) {
      const path = `/v1/conversations/listener-${index}/events?limit=1000`;
      const { events } = await api
        .call<{ readonly events: readonly InboxEvent[] }>(path)
        // This agent got no text.
        .catch(() => ({ events: [] }));
      for (const { type, at, payload } of events) {
        if (type !== 'inbox_event' || payload === undefined) continue;
        if (seen.has(payload.messageId)) repeated += 1;
        seen.add(payload.messageId);
        delays.push(Date.parse(at) - Date.parse(payload.createdAt));
      }
    }
    if (seen.size >= expected || performance.now() > giveUpAt)
      return { expected, texts: seen.size, repeated, delay: spreadOf(delays) };
    await sleep(2_000);
  }
}
