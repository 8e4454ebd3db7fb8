/**
 * Random schedules on a real server: conversations of all kinds of agents get inputs by client, HTTP and signal while
 * their worker is killed and restarted repeatedly. In the end all come to rest, and log, replies, effects, model and
 * histories agree. `RANDOM_SEED=123` repeats the inputs of a run as far as the timing agrees; `RANDOM_STEPS` makes it
 * longer.
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ConversationClient } from 'colloquy/client';
import { createStoreReader, type OpenLog, openEventLog } from 'colloquy/log';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { applyAll } from '../../../src/core/apply/apply.js';
import { snapshotOf } from '../../../src/core/view/snapshot.js';
import type { ConversationSnapshot } from '../../../src/protocol/conversation/conversation.js';
import type { CanonicalEvent } from '../../../src/protocol/log/events.js';
import { Dice } from '../../support/dice.js';
import { EngineHistory } from '../../support/engine/history.js';
import { replayAll } from '../../support/engine/replay.js';
import { bundleFromSource } from '../../support/engine/workflow-bundle.js';
import { askFromOutside } from '../../support/histories/asked-from-outside.js';
import { promise } from '../../support/promise.js';
import { expectInvariants } from '../../support/schedules/core-invariants.js';
import { until } from '../../support/until.js';
import { Follower } from '../support/follower.js';
import { expectModelRead } from '../support/model-reads.js';
import { juggle } from '../support/random/juggler-model.js';
import { RandomTalk } from '../support/random/random-talk.js';
import { expectEffects, expectReplies } from '../support/random/trail-checks.js';
import { Talk } from '../support/talk.js';
import { startWorld, type World } from '../support/world.js';

const AGENTS = ['queueing', 'steering', 'interrupting', 'rejecting'] as const;
/** Agents that run the calls of a step in parallel. */
const PARALLEL = ['queueing', 'interrupting', 'rejecting'];
const CONVERSATIONS = 6;
const STEPS = Number(process.env['RANDOM_STEPS'] ?? 25);
const KILLS = 3;
const SEED = Number(process.env['RANDOM_SEED'] ?? Date.now() % 1_000_000);
const MODULE = fileURLToPath(new URL('../fixtures/juggler.ts', import.meta.url));
/** Two run in the worker, one is gated, one is a form, one runs in another backend, and the last is detached. */
const SIX_CALLS = ['quick', 'wipe', 'ask', 'nap', 'fetch', 'order'];
const BATCHES = 4;
const PATIENCE_MS = 60_000;

let world: World;
let opened: OpenLog;
let client: ConversationClient;
/** The API of the followers, which is killed in between. */
let followed: Awaited<ReturnType<World['startApi']>>;
const followers = new Map<string, Follower>();
let code: string;

beforeAll(async () => {
  world = await startWorld({
    agents: MODULE,
    script: juggle,
    // Lets runs also roll over by themselves.
    dynamicConfig: { 'limit.historyCount.suggestContinueAsNew': 200 },
  });
  opened = await openEventLog(join(world.folder, 'log.db'));
  const { temporal, taskQueue } = world;
  const reader = createStoreReader({ log: opened.log, live: opened.live, source: 'none' });
  client = new ConversationClient({
    temporal,
    taskQueue,
    reader,
    agents: await opened.log.agents(),
  });
  code = await bundleFromSource();
  followed = await world.startApi(0);
});
afterAll(async () => {
  await Promise.all([...followers.values()].map((follower) => follower.stop()));
  await opened.close();
  await world.stop();
});

/** A conversation that has come to rest. */
interface Played {
  readonly random: RandomTalk;
  /** The events in the store. */
  readonly events: readonly CanonicalEvent[];
  /** The snapshot of the workflow. */
  readonly snapshot: ConversationSnapshot;
  /** The last message, with which the model was sent the whole conversation. */
  readonly finale: string;
}

/** Adds the seed and the recorded inputs to a failure, for its repetition. */
async function blaming(random: RandomTalk, check: () => Promise<void> | void): Promise<void> {
  try {
    await check();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const how = `RANDOM_SEED=${SEED}, ${random.id} (${random.agent})`;
    const seen = await recorded(random).catch(String);
    throw new Error(`${how}: ${message}\n\n${random.trail.toString()}\n\n${seen}`, {
      cause: error,
    });
  }
}

/** The newest part of log and history, and the output of the last worker. */
async function recorded({ talk }: RandomTalk): Promise<string> {
  const lines = await new EngineHistory(world.temporal).lines(talk.workflowId);
  const events = await talk.events();
  const log = events.slice(-20).map((event) => JSON.stringify(event).slice(0, 300));
  return [...log, '', ...lines.slice(-40), '', world.stack.worker().output()].join('\n');
}

function randomTalk(kind: string, index: number, agents: readonly string[]): RandomTalk {
  const agent = agents[index % agents.length] ?? 'queueing';
  const id = `${kind}${SEED}-${index}`;
  const talk = new Talk(id, () => followed.url);
  followers.set(id, new Follower((lastEventId) => talk.stream(lastEventId)));
  return new RandomTalk({ world, client }, { id, agent, seed: SEED * 1_000 + index });
}

/** Plays all conversations in parallel, and kills the worker `kills` times, spread at random over `inputs` inputs. */
async function playAll(
  talks: readonly RandomTalk[],
  how: {
    readonly play: (random: RandomTalk, done: () => void) => Promise<void>;
    readonly inputs: number;
    readonly kills: number;
  },
): Promise<readonly Played[]> {
  const progress = { inputs: 0, playing: true };
  const killing = killAtRandom(progress, how);
  const play = async (random: RandomTalk): Promise<void> => {
    await blaming(random, () =>
      how.play(random, () => {
        progress.inputs += 1;
      }),
    );
  };
  try {
    await Promise.all(talks.map(play));
  } finally {
    progress.playing = false;
    await killing;
  }
  return await Promise.all(talks.map(toRest));
}

async function killAtRandom(
  progress: { readonly inputs: number; readonly playing: boolean },
  { inputs, kills }: { readonly inputs: number; readonly kills: number },
): Promise<void> {
  const dice = new Dice(SEED);
  const share = inputs / kills;
  for (let kill = 0; kill < kills; kill += 1) {
    const after = Math.floor(share * (kill + 0.2)) + dice.below(Math.ceil(share / 2));
    const isDue = (): boolean => progress.inputs >= after || !progress.playing;
    await until(`${after} inputs are given`, isDue, { timeoutMs: 2 * PATIENCE_MS });
    if (!progress.playing) return;
    await world.stack.worker().kill();
    await Promise.all([world.stack.startWorker(), killApi()]);
  }
}

/** Kills the API and starts another on its port, where its followers resume. */
async function killApi(): Promise<void> {
  const port = Number(new URL(followed.url).port);
  await followed.kill();
  followed = await world.startApi(port);
}

/** A follower from the beginning has received the whole log, each event once. */
async function expectFollowed({ random, events }: Played): Promise<void> {
  const follower = followers.get(random.id);
  const recorded = await until(`the follower of ${random.id} is there`, () => follower?.recorded, {
    holds: (frames = []) => frames.length >= events.length,
    timeoutMs: PATIENCE_MS,
  });
  // Read after the follower: a run may have rolled over since the conversation came to rest.
  const log = (await random.talk.events()).slice(0, recorded?.length);
  expect(recorded?.map(({ id }) => id)).toEqual(log.map(({ seq }) => `1-${seq}`));
  expect(recorded?.map(({ data }) => data)).toEqual(log);
  expect(follower?.connections).toBeGreaterThan(1);
}

async function toRest(random: RandomTalk): Promise<Played> {
  let finale = '';
  await blaming(random, async () => {
    await random.rest();
    finale = await random.finale();
  });
  // A run may roll over after the last turn.
  const look = async (): Promise<Pick<Played, 'events' | 'snapshot'>> => {
    const snapshot = await random.workflow();
    return { snapshot, events: await random.talk.events() };
  };
  const seen = await until(`the log of ${random.id} is whole`, look, {
    holds: ({ snapshot, events }) => events.at(-1)?.seq === snapshot.seq,
    timeoutMs: PATIENCE_MS,
  });
  return { random, finale, ...seen };
}

async function expectCore({ random, events, snapshot }: Played): Promise<void> {
  const state = applyAll(events);
  if (state === undefined) throw new Error('the log is empty');
  expectInvariants({ state, events: [...events] });
  expect(snapshot).toEqual(snapshotOf(state));
  // A lost task must not open a new generation: its decisions were never visible.
  const head = await opened.log.head({ tenant: 'default', conversationId: random.id });
  expect(head?.generation).toBe(1);
}

async function expectReplays(played: readonly Played[]): Promise<void> {
  const history = new EngineHistory(world.temporal);
  const histories: { workflowId: string; history: unknown }[] = [];
  for (const { random } of played) {
    const { workflowId } = random.talk;
    for (const runId of await history.runs(workflowId)) {
      expect(await history.failedTasks(workflowId, runId), random.id).toEqual([]);
      const handle = world.temporal.workflow.getHandle(workflowId, runId);
      histories.push({ workflowId, history: await handle.fetchHistory() });
    }
  }
  await replayAll({ code }, histories);
}

describe(`conversations driven at random while their worker is killed (seed ${SEED})`, () => {
  let played: readonly Played[] = [];
  const onEach = async (check: (one: Played) => Promise<void> | void): Promise<void> => {
    expect(played).toHaveLength(CONVERSATIONS);
    for (const one of played) await blaming(one.random, () => check(one));
  };

  it('all come to rest', promise('G18'), async () => {
    const talks = Array.from({ length: CONVERSATIONS }, (_, index) =>
      randomTalk('s', index, AGENTS),
    );
    const play = async (random: RandomTalk, done: () => void): Promise<void> => {
      askFromOutside({ temporal: world.temporal }, random.talk.workflowId);
      await random.begin();
      for (let step = 0; step < STEPS; step += 1) {
        await random.step();
        done();
      }
    };
    played = await playAll(talks, { play, inputs: CONVERSATIONS * STEPS, kills: KILLS });
  });

  it('keep every invariant of the core, and log and workflow agree', {
    ...promise('G18'),
  }, async () => {
    await onEach(expectCore);
  });

  it('gave every sender a true reply, and lost no signal', promise('G18'), async () => {
    await onEach(({ random, events }) => {
      expectReplies(random.trail, events);
    });
  });

  it(
    'ran tools with effects `once` at most once, and only approved calls',
    promise('G18'),
    async () => {
      const runs = await world.lines('runs.jsonl');
      await onEach(({ random, events }) => {
        const own = runs.filter((run) => run['conversationId'] === random.id);
        expectEffects(own, events);
      });
    },
  );

  it('sent the model each result once, in call order', promise('G18'), async () => {
    await onEach(({ random, events, finale }) => {
      expectModelRead(world.model.requests, { id: random.id, finale, events });
    });
  });

  it('were followed by streams without a gap or a repeat, although their API was killed as well', {
    ...promise('G18'),
  }, async () => {
    await onEach(expectFollowed);
  });

  it('left histories without a failed task, which replay', promise('G18'), async () => {
    await expectReplays(played);
  });
});

describe(`six parallel calls, one for each way to wait (seed ${SEED})`, () => {
  const play = async (random: RandomTalk, done: () => void): Promise<void> => {
    await random.begin(SIX_CALLS.join(' '));
    const dice = new Dice(SEED);
    const answered = new Map<string, number>();
    const open = await until(`four calls of ${random.id} wait`, () => random.pending(), {
      holds: (pending) => pending.length === 4,
      timeoutMs: PATIENCE_MS,
    });
    // The gated call waits twice; a call that the store still shows as waiting is answered again.
    for (let left = open; left.length > 0; left = await random.pending()) {
      const call = dice.pick(left);
      if (call === undefined) break;
      await random.answerTwice(call);
      answered.set(call.toolCallId, (answered.get(call.toolCallId) ?? 0) + 1);
      done();
    }
    expect(answered.size).toBe(4);
    // Answers after the end of the calls.
    for (const call of dice.shuffled(open)) await random.answerTwice(call);
  };

  it('answered in random order, twice, late and across a kill: the model reads each result once, in call order', async () => {
    const talks = Array.from({ length: BATCHES }, (_, index) => randomTalk('b', index, PARALLEL));
    const played = await playAll(talks, { play, inputs: BATCHES * 4, kills: 1 });
    const runs = await world.lines('runs.jsonl');
    for (const one of played)
      await blaming(one.random, async () => {
        const { random, events, finale } = one;
        await expectCore(one);
        expectReplies(random.trail, events);
        expectEffects(
          runs.filter((run) => run['conversationId'] === random.id),
          events,
        );
        expectModelRead(world.model.requests, { id: random.id, finale, events });
        const asked = events.flatMap((event) =>
          event.type === 'tool_call' ? [event.call.name] : [],
        );
        expect(asked).toEqual(SIX_CALLS);
        const incoming = events.filter((event) => event.type === 'inbox_event');
        expect(incoming.map(({ name }) => name)).toEqual(['order']);
      });
    await expectReplays(played);
  });
});
