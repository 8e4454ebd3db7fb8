/**
 * Conversations whose steps mix inline reads with other tools while they are open in the Temporal UI: one query a
 * second each, sometimes six at once. Their worker is killed in between. Every run must still replay.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bundleFromSource } from '../../support/engine/workflow-bundle.js';
import { patient } from '../../support/patience.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';
import { expectWhole, wholeLog } from '../support/killed-talks.js';
import { juggle } from '../support/random/juggler-model.js';
import type { Talk } from '../support/talk.js';
import { startWorld, type World } from '../support/world.js';

const AGENTS = new URL('../fixtures/reading.ts', import.meta.url).pathname;
/** `READS_CONVERSATIONS` and `READS_TURNS` make the test longer. */
const CONVERSATIONS = Number(process.env['READS_CONVERSATIONS'] ?? 8);
const TURNS = Number(process.env['READS_TURNS'] ?? 4);
/** Calls in one turn: two reads beside another tool, then two reads. */
const CALLS = 5;
const KILLS = 2;
const QUERY_EVERY_MS = 1_000;
const QUERY_DEADLINE_MS = 2_000;
/** One in so many polls is a burst of six queries. */
const BURST_EVERY = 3;
const BURST = 6;
const QUERIES = ['__temporal_workflow_metadata', 'snapshot', '__stack_trace'];
const PATIENCE_MS = 240_000;
const TEST_TIMEOUT_MS = 2 * PATIENCE_MS;

let world: World;
let code: string;

beforeAll(async () => {
  world = await startWorld({ agents: AGENTS, script: juggle });
  code = await bundleFromSource();
});
afterAll(() => world.stop());

/**
 * Queries like an open page of the UI, by workflow id and by run id. Refused queries and timeouts do not matter here.
 */
async function watch(talk: Talk, isOver: () => boolean): Promise<number> {
  let asked = 0;
  const all: Promise<unknown>[] = [];
  const { workflow } = world.temporal;
  const { runId } = await workflow.getHandle(talk.workflowId).describe();
  while (!isOver()) {
    const isBurst = asked % BURST_EVERY === BURST_EVERY - 1;
    const looks = Array.from({ length: isBurst ? BURST : 1 }, (_, index) =>
      world.temporal
        .withDeadline(Date.now() + QUERY_DEADLINE_MS, () =>
          workflow
            .getHandle(talk.workflowId, index % 2 === 0 ? undefined : runId)
            .query(QUERIES[index % QUERIES.length] ?? ''),
        )
        .catch(() => undefined),
    );
    asked += 1;
    all.push(...looks);
    await sleep(QUERY_EVERY_MS);
  }
  await Promise.all(all);
  return asked;
}

async function play(talk: Talk): Promise<void> {
  for (let turn = 1; turn <= TURNS; turn += 1) {
    const text = messageOf(talk, turn);
    if (turn === 1) await talk.begin('reader', text);
    else {
      const reply = await talk.call('/messages', { body: { text } });
      if (reply.status !== 202) throw new Error(`${talk.id}: ${JSON.stringify(reply)}`);
    }
    await until(`turn ${turn} of ${talk.id} ends`, () => talk.eventsOf('turn_ended'), {
      holds: (ends) => ends.length >= turn,
      timeoutMs: PATIENCE_MS,
    });
  }
}

function messageOf(talk: Talk, turn: number): string {
  return `do ${talk.id}.${turn}: look peek work | look peek`;
}

it('conversations under queries whose worker is killed all end their turns, and every run replays', {
  ...promise('G212'),
  timeout: patient(TEST_TIMEOUT_MS),
}, async () => {
  const talks = Array.from({ length: CONVERSATIONS }, (_, index) => world.talk(`read-${index}`));
  let isOver = false;
  const runs = async (): Promise<number> => (await world.lines('runs.jsonl')).length;
  const playing = Promise.all(talks.map(play));
  await until('all have begun', runs, {
    holds: (count) => count >= CONVERSATIONS,
    timeoutMs: PATIENCE_MS,
  });
  const watching = Promise.all(talks.map((talk) => watch(talk, () => isOver)));
  const killing = (async () => {
    for (let kill = 1; kill <= KILLS; kill += 1) {
      await until('work goes on', runs, {
        holds: (count) => count >= (CONVERSATIONS * TURNS * CALLS * kill) / (KILLS + 1),
        timeoutMs: PATIENCE_MS,
      });
      await world.stack.worker().kill();
      await world.stack.startWorker();
    }
  })();
  const played = await Promise.allSettled([playing, killing]);
  isOver = true;
  expect(Math.min(...(await watching))).toBeGreaterThan(1);
  for (const end of played) if (end.status === 'rejected') throw end.reason;
  for (const talk of talks) {
    const events = await wholeLog(world, talk, TURNS);
    await expectWhole(world, talk, { events, code, finale: messageOf(talk, TURNS) });
    expect(events.filter(({ type }) => type === 'tool_result')).toHaveLength(TURNS * CALLS);
  }
});
