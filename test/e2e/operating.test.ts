/**
 * The commands with which operators handle failing conversations, as executables: here a run that the present code
 * cannot replay, and its repair.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Diagnosis } from '../../src/cli/operate/doctor.js';
import type { PendingCall } from '../../src/protocol/calls/suspensions.js';
import type { RepairPlan } from '../../src/worker/repair/index.js';
import { badBundle } from '../support/bad-deploys/index.js';
import { EngineHistory } from '../support/engine/history.js';
import { promise } from '../support/promise.js';
import { until } from '../support/until.js';
import { colloquy, failure, start } from './support/processes.js';
import type { Talk } from './support/talk.js';
import { startWorld, type World } from './support/world.js';

const AGENTS = new URL('./fixtures/payments.ts', import.meta.url).pathname;
const BAD_WORKER = new URL('./fixtures/broken/bad-worker.ts', import.meta.url).pathname;
const PATIENCE = { timeoutMs: 60_000 };

/** The tools of `cashier` that are lost in mid-run. */
const LOST = ['happened', 'missed', 'held', 'noted', 'looked'] as const;

let world: World;
beforeAll(async () => {
  world = await startWorld({ agents: AGENTS });
  world.model.answer('pay twice', ({ results }) =>
    results.length === 0
      ? { calls: ['wire', 'pay'].map((name) => ({ name, input: {} })) }
      : { text: JSON.stringify(results) },
  );
  world.model.answer('pay all', ({ results }) =>
    results.length === 0
      ? { calls: ['pay', ...LOST].map((name) => ({ name, input: {} })) }
      : { text: JSON.stringify(results) },
  );
  world.model.answer('thanks', () => ({ text: 'You are welcome' }));
});
afterAll(() => world.stop());

/** The output of an executable, with its exit code. */
async function ran(...args: readonly string[]): Promise<{ code: unknown; text: string }> {
  const command = colloquy([...args, '--data', world.folder], world.env);
  const code = await command.ended;
  return { code, text: command.stdout() };
}
const diagnosed = async () => {
  const { code, text } = await ran('doctor', '--json');
  return { code, diagnosis: JSON.parse(text) as Diagnosis };
};

const ranTools = async (among: readonly string[]): Promise<readonly unknown[]> =>
  (await world.lines('runs.jsonl'))
    .map(({ name }) => String(name))
    .filter((name) => among.includes(name))
    .sort();

/** The tool `pay` runs once on a worker of a bad deploy, which is then killed while other tools still run. */
async function paidByBadDeploy(talk: Talk, pay: PendingCall | undefined): Promise<void> {
  const { codePath } = await badBundle('starts-more-timers');
  const bad = start(process.execPath, [BAD_WORKER], {
    env: { ...world.env, AGENTS, BUNDLE: codePath },
  });
  await bad.prints(/ready/);
  const approved = await talk.resolve(pay?.toolCallId ?? '', { type: 'approve' });
  // A busy machine may queue the answer first.
  expect(approved.body['verdict']).toMatch(/accepted|queued/);
  const history = new EngineHistory(world.temporal);
  await until('the end of "pay" is recorded', async () => await history.events(talk.workflowId), {
    holds: (events) =>
      events.filter((event) => event.activityTaskCompletedEventAttributes != null).length === 2,
    ...PATIENCE,
  });
  bad.kill('SIGKILL');
  await bad.ended;
}

/** The tools run on a worker that is killed, and the run goes on with a bad deploy; then the good code is back. */
async function lostInMidRun(talk: Talk, tools: readonly string[]): Promise<void> {
  const pay = (await talk.waiting(1)).get('pay');
  await until('the tools that do not end run', () => ranTools(tools), {
    holds: (names) => names.length === tools.length,
    ...PATIENCE,
  });
  await world.stack.worker().kill();
  await paidByBadDeploy(talk, pay);
  await world.stack.startWorker();
}

/** The message makes the server schedule the task anew, and so record the next failure of it. */
async function seenFailing(talk: Talk): Promise<void> {
  const meanwhile = await talk.call('/messages', { body: { text: 'thanks', onBusy: 'queue' } });
  expect(meanwhile.body['status']).toBe('queued');
  await until('readers see that it fails', () => talk.call(''), {
    holds: ({ body }) => body['status'] === 'failing',
    ...PATIENCE,
  });
}

describe('a run that the present code cannot replay', () => {
  it('is named by doctor, explained by repair, reset by repair --apply, and continues; work that must not be repeated is not', {
    ...promise('G21'),
  }, async () => {
    const talk = world.talk('unreplayable');
    await talk.begin('payer', 'pay twice');
    await lostInMidRun(talk, ['wire']);
    await seenFailing(talk);

    const sick = await diagnosed();
    expect(sick).toMatchObject({
      code: 1,
      diagnosis: {
        ok: false,
        conversations: [
          {
            conversationId: talk.id,
            trouble: { error: expect.stringContaining('TMPRL1100') as string },
            next: `npx colloquy repair ${talk.id}`,
          },
        ],
      },
    });

    const runOf = async () =>
      (await world.temporal.workflow.getHandle(talk.workflowId).describe()).runId;
    const before = await runOf();
    const explained = await ran('repair', talk.id);
    expect(explained.code).toBe(1);
    expect(explained.text).toMatch(
      /does not replay: .*TMPRL1100[^]*tool:\S*wire\S* +not done again[^]*Nothing was changed. To reset it: npx colloquy repair unreplayable --apply/,
    );
    const replayed = colloquy(['replay', talk.id, '--json'], world.env);
    expect(await replayed.ended).toBe(1);
    expect(JSON.parse(replayed.stdout())).toMatchObject({
      ok: false,
      histories: [
        { name: before, status: 'fails', error: expect.stringContaining('TMPRL1100') as string },
      ],
    });
    const planned = await ran('repair', talk.id, '--json');
    expect(planned.code).toBe(1);
    expect(JSON.parse(planned.text)).toMatchObject({ status: 'reset', runId: before });
    expect(await runOf()).toBe(before);

    const applied = await ran('repair', talk.id, '--apply');
    expect(applied.text).toMatch(/It was reset, and continues as run \S+/);
    expect(applied.code).toBe(0);
    expect(await runOf()).not.toBe(before);
    const { status, text } = await talk.ended();
    expect(status).toBe('completed');
    expect(JSON.parse(text)).toMatchObject([
      { name: 'wire', ok: false, error: { code: 'outcome_unknown' } },
      { name: 'pay', ok: true, result: 'paid' },
    ]);
    // The message that arrived while the run was failing.
    expect(await talk.ended(2)).toMatchObject({ status: 'completed', text: 'You are welcome' });
    expect(await ranTools(['pay', 'wire'])).toEqual(['pay', 'wire']);

    const again = await ran('repair', talk.id, '--json');
    expect(again.code).toBe(0);
    expect(JSON.parse(again.text)).toMatchObject({ status: 'replays' });
    const healthy = colloquy(['replay', talk.id], world.env);
    expect(await healthy.ended).toBe(0);
    expect(healthy.stdout()).toContain(`replays  ${await runOf()}`);
    expect(await diagnosed()).toMatchObject({
      code: 0,
      diagnosis: { ok: true, conversations: [] },
    });
  });
});

describe('a run that is reset while tools run', () => {
  it('asks or holds those with effects `once`, and runs the others again under the same key', {
    ...promise('G21'),
  }, async () => {
    const paidBefore = (await ranTools(['pay'])).length;
    const talk = world.talk('reset-in-mid-run');
    await talk.begin('cashier', 'pay all');
    await lostInMidRun(talk, LOST);
    await seenFailing(talk);
    const before = await talk.events();
    const planned = await ran('repair', talk.id, '--json');
    const { activities } = JSON.parse(planned.text) as Extract<RepairPlan, { status: 'reset' }>;
    const tools = activities.map(({ activityId, becomes }) => [activityId.split(':')[1], becomes]);
    expect(Object.fromEntries(tools)).toEqual({
      ...{ pay: 'recorded', happened: 'unknown', missed: 'unknown', held: 'unknown' },
      ...{ noted: 'again', looked: 'again' },
    });
    expect((await ran('repair', talk.id, '--apply')).code).toBe(0);

    // Readers see the approval of before for a moment.
    const waiting = await until('the held call waits', () => talk.waiting(1), {
      holds: (calls) => calls.has('held'),
      ...PATIENCE,
    });
    const held = waiting.get('held');
    expect(held).toMatchObject({ kind: 'outcome' });
    const outcome = { type: 'outcome', value: 'found by hand' };
    const resolved = await talk.resolve(held?.toolCallId ?? '', outcome);
    expect(resolved.body['verdict']).toMatch(/accepted|queued/);
    const { status, text } = await talk.ended();
    expect(status).toBe('completed');
    expect(JSON.parse(text)).toMatchObject([
      { name: 'pay', result: 'paid' },
      { name: 'happened', result: 'found at the bank' },
      { name: 'missed', result: 'missed again' },
      { name: 'held', result: 'found by hand' },
      { name: 'noted', result: 'noted again' },
      { name: 'looked', result: 'looked again' },
    ]);
    const lines = (await world.lines('runs.jsonl')).filter(({ name }) =>
      (LOST as readonly unknown[]).includes(name),
    );
    const runsOf = (name: string) => lines.filter((line) => line['name'] === name);
    expect(LOST.map((name) => runsOf(name).length)).toEqual([1, 2, 1, 2, 2]);
    expect(LOST.map((name) => new Set(runsOf(name).map(({ key }) => key)).size)).toEqual(
      LOST.map(() => 1),
    );
    expect(await ranTools(['pay'])).toHaveLength(paidBefore + 1);
    expect((await talk.events()).slice(0, before.length)).toEqual(before);
  });
});

describe('operators get an error', () => {
  it.each([
    [['doctor'], 'No event log at'],
    [['repair', 'order-42'], 'No event log at'],
    [['check', '--agents', AGENTS, '--against'], 'No event log at'],
  ])('from colloquy %j when there is no event log at the given place', async (args, says) => {
    const nowhere = `${world.folder}/typo`;
    const where = args.includes('--against') ? [nowhere] : ['--data', nowhere];
    const command = colloquy([...args, ...where], world.env);
    expect(await command.ended).toBe(1);
    expect(`${command.stdout()}${command.stderr()}`).toContain(says);
  });

  it('when a conversation does not exist', async () => {
    const said = await failure(colloquy(['repair', 'nobody', '--data', world.folder], world.env));
    expect(said).toMatch(/nobody|not found/);
  });
});
