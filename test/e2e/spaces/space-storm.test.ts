/**
 * Two agents and a person write in one space, while the worker is killed again and again and a deploy changes the
 * agents. `SPACE_TEXTS` sets how many texts each of the three writes, `SPACE_KILLS` how often the worker is killed.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { type Child, startChild } from 'colloquy/dev';
import type { SpaceMessage } from 'colloquy/spaces';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { EngineHistory } from '../../support/engine/history.js';
import { replay } from '../../support/engine/replay.js';
import { bundleFromSource } from '../../support/engine/workflow-bundle.js';
import { StreamReader } from '../../support/networks/stream-reader.js';
import { patient } from '../../support/patience.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';
import { call, IDENTIFIED } from '../support/api.js';
import type { Talk } from '../support/talk.js';
import { startWorld, type World } from '../support/world.js';

const TEXTS = Number(process.env['SPACE_TEXTS'] ?? 30);
const KILLS = Number(process.env['SPACE_KILLS'] ?? 4);
/**
 * Texts of the person that both agents have not answered yet. Their answers are at most eight texts of agents in a row,
 * which is fewer than loop protection allows.
 */
const MOST_AHEAD = 4;
const NAMES = ['anna', 'bert'];
const AGENTS = fileURLToPath(new URL('agents.ts', import.meta.url));

let world: World;
beforeAll(async () => {
  world = await startWorld({ agents: AGENTS });
});
afterAll(() => world.stop());

/** A space with both agents, which are in it. */
class Room {
  readonly id: string;
  readonly talks: readonly Talk[];

  private constructor(id: string, talks: readonly Talk[]) {
    this.id = id;
    this.talks = talks;
  }

  static async open(name: string): Promise<Room> {
    const { body } = await call(`${world.apiUrl}/v1/spaces`, { body: { name } });
    const room = new Room(
      String(body['id']),
      NAMES.map((agent) => world.talk(`${name}-${agent}`)),
    );
    for (const [place, agent] of NAMES.entries()) {
      const talk = room.talks[place] as Talk;
      const member = { kind: 'agent', conversationId: talk.id, agent };
      expect((await call(`${room.url}/members`, { body: { member } })).status).toBeLessThan(300);
      await talk.begin(agent, `enter ${room.id}`);
      await talk.ended();
    }
    return room;
  }

  get url(): string {
    return `${world.apiUrl}/v1/spaces/${this.id}`;
  }

  async send(text: string): Promise<void> {
    await until(`"${text}" is sent`, async () => {
      const headers = { 'idempotency-key': text };
      return (await call(`${this.url}/messages`, { body: { text }, headers })).status < 300;
    });
  }

  /** All messages, oldest first. */
  async messages(): Promise<readonly SpaceMessage[]> {
    const all: SpaceMessage[] = [];
    for (let before = ''; ; ) {
      const { body } = await call(`${this.url}/messages?limit=100${before}`);
      const page = body['messages'] as readonly SpaceMessage[];
      all.unshift(...page);
      const first = all[0]?.position ?? 1;
      if (page.length === 0 || first === 1) return all;
      before = `&before=${first}`;
    }
  }

  async textsBy(name: string): Promise<readonly SpaceMessage[]> {
    const messages = await this.messages();
    return messages.filter(({ author, kind }) => kind === 'text' && author.id.endsWith(name));
  }
}

/** Follows the stream of a space, and is cut now and then. */
class SpaceReader extends StreamReader {
  readonly changes: { readonly id: number; readonly position: number }[] = [];

  constructor(room: Room) {
    super(() => `${room.url}/stream?after=0`, IDENTIFIED);
  }

  async follow(signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', () => {
      this.cut();
    });
    while (!signal.aborted) await this.read();
  }

  protected take({ event, data, id }: { event?: string; data: string; id?: string }): void {
    if (event !== 'message') return;
    const { position } = JSON.parse(data) as SpaceMessage;
    this.changes.push({ id: Number(id), position });
  }
}

/** Kills the worker at random moments, with a deploy in the middle. Resolves to the last worker. */
async function killAndDeploy(): Promise<Child> {
  let worker = world.stack.worker();
  let env = world.env;
  const replace = async (end: (worker: Child) => Promise<unknown>): Promise<void> => {
    await sleep(500 + Math.random() * 6_000);
    await end(worker);
    worker = await startChild({ name: 'worker', args: ['worker', '--agents', AGENTS], env });
  };
  for (let kill = 0; kill < KILLS; kill += 1) {
    if (kill === Math.floor(KILLS / 2)) {
      env = { ...env, DEFINITIONS: 'after' };
      await replace((old) => old.stop());
    }
    await replace((old) => old.kill());
  }
  return worker;
}

const inboxOf = async (talk: Talk): Promise<readonly { id: string; position: number }[]> =>
  (await talk.eventsOf('inbox_event')).flatMap(({ kind, payload }) => {
    if (kind !== 'space.message') return [];
    const { messageId, position } = payload as { messageId: string; position: number };
    return [{ id: messageId, position }];
  });

it('each text of a space enters each other inbox once and in order, though the worker is killed and replaced', {
  ...promise('G367', 'G368'),
  timeout: patient(900_000),
}, async () => {
  const room = await Room.open('storm');
  const reader = new SpaceReader(room);
  const over = new AbortController();
  const following = reader.follow(over.signal);
  const killing = killAndDeploy();
  for (let nth = 1; nth <= TEXTS; nth += 1) {
    await until(
      `text ${nth} may come`,
      async () => {
        const written = await Promise.all(NAMES.map((name) => room.textsBy(name)));
        return written.map(({ length }) => length);
      },
      {
        holds: (counts) => counts.every((count) => count > nth - 1 - MOST_AHEAD),
        timeoutMs: 120_000,
      },
    );
    await room.send(`question ${nth}`);
    if (nth % 7 === 0) reader.cut();
  }
  for (const name of NAMES)
    await until(`${name} has answered all`, async () => (await room.textsBy(name)).length, {
      holds: (count) => count >= TEXTS,
      timeoutMs: 120_000,
    });
  const last = await killing;

  const messages = await room.messages();
  expect(messages.map(({ position }) => position)).toEqual(messages.map((_, index) => index + 1));
  expect(messages.filter(({ kind }) => kind === 'text')).toHaveLength(3 * TEXTS);
  for (const [place, name] of NAMES.entries()) {
    const own = await room.textsBy(name);
    const texts = own.map(({ text }) => text);
    expect(texts).toEqual(
      Array.from({ length: TEXTS }, (_, nth) => `${name}: question ${nth + 1}`),
    );
    const talk = room.talks[place] as Talk;
    const expected = messages
      .filter(({ kind, author }) => kind === 'text' && !author.id.endsWith(name))
      .map(({ id, position }) => ({ id, position }));
    await until(`the inbox of ${name} is complete`, () => inboxOf(talk), {
      holds: ({ length }) => length >= expected.length,
      timeoutMs: 60_000,
    });
    expect(await inboxOf(talk)).toEqual(expected);
  }

  await until('the reader has all messages', () =>
    messages.every(({ position }) => reader.changes.some((change) => change.position === position)),
  );
  over.abort();
  await following;
  const ids = reader.changes.map(({ id }) => id);
  expect(ids).toEqual([...new Set(ids)].sort((one, other) => one - other));
  const seen = [...new Set(reader.changes.map(({ position }) => position))];
  expect(seen).toEqual(messages.map(({ position }) => position));

  await last.stop();
  const history = new EngineHistory(world.temporal);
  const bundle = { code: await bundleFromSource() };
  for (const { workflowId } of room.talks)
    for (const runId of await history.runs(workflowId))
      await replay(
        bundle,
        await world.temporal.workflow.getHandle(workflowId, runId).fetchHistory(),
      );
});

it('agents that always answer each other stop at the limit, and a text of a person lets them begin again', {
  ...promise('G370'),
  timeout: patient(300_000),
}, async () => {
  const worker = await startChild({
    name: 'worker of chatty agents',
    args: ['worker', '--agents', AGENTS],
    env: { ...world.env, DEFINITIONS: 'chatty' },
  });
  try {
    const room = await Room.open('loop');
    const stops = async (): Promise<number> =>
      (await room.messages()).filter(({ metadata }) => metadata?.['toolName'] === 'loop_protection')
        .length;
    for (const [place, text] of ['first', 'second'].entries()) {
      await room.send(text);
      await until(`the agents are stopped after the ${text}`, stops, {
        holds: (count) => count > place,
        timeoutMs: 120_000,
      });
      const since = (await room.messages()).filter(
        ({ kind, author }) => kind === 'text' && author.kind === 'agent',
      );
      expect(since.length).toBeGreaterThan(10 * (place + 1));
      // Both may have answered the last text that was still delivered.
      expect(since.length).toBeLessThanOrEqual(13 * (place + 1));
    }
  } finally {
    await worker.stop();
  }
});
