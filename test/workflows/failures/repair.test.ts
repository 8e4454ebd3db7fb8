/**
 * Repair of a run that the present code cannot replay: the new run knows of the discarded work before it schedules
 * anything.
 */
import { expect, inject, test } from 'vitest';
import { type Diagnosis, diagnose } from '../../../src/cli/operate/doctor.js';
import { diagnosisText } from '../../../src/cli/operate/doctor-command.js';
import { CompressionCodec } from '../../../src/client/payloads/payload-codec.js';
import { calls, says, script } from '../../../src/model/scripted/scripted.js';
import { TroubleWatch } from '../../../src/projection/duties/trouble-watch.js';
import { createWorkflowSource } from '../../../src/projection/source/workflow-source.js';
import { applyRepair, planRepair, type RepairDeps } from '../../../src/worker/repair/index.js';
import { badBundle } from '../../support/bad-deploys/index.js';
import { ledger, shop } from '../../support/engine/agents.js';
import { type Engine, startEngine } from '../../support/engine/engine.js';
import { CONVERTER } from '../../support/engine/workflow-bundle.js';
import { patient } from '../../support/patience.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';

const REFUND = calls('payments.refund', { paymentId: 'p1', cents: 500 });

const goodCode = () => ({ workflowBundle: { codePath: inject('workflowBundlePath') } });

function repairDeps(engine: Engine): RepairDeps {
  return {
    temporal: engine.temporal,
    log: engine.opened.log,
    replay: { codecs: [new CompressionCodec()], payloadConverterPath: CONVERTER, ...goodCode() },
  };
}

async function examine(engine: Engine): Promise<Diagnosis> {
  const source = createWorkflowSource(engine.temporal);
  // Other tests share the server, so only conversations marked in this store are examined.
  const { reported: _all, ...own } = source;
  return await diagnose({
    address: engine.address,
    namespace: 'default',
    taskQueue: engine.taskQueue,
    searchAttributes: true,
    connect: () => Promise.resolve({ client: engine.temporal, source: own }),
    openStore: () => Promise.resolve(engine.opened.log),
  });
}

test('a run that does not replay is reset to the longest prefix that does, and a tool with effects `once` in the discarded part is not run again', {
  ...promise('G21'),
  timeout: patient(180_000),
}, async () => {
  const services = ledger();
  const model = script(
    REFUND,
    says('Refunded'),
    calls('weather.lookup', {}),
    says('Sunny'),
    says('Bye'),
  );
  const engine = await startEngine({
    agents: [shop(model)],
    services,
    tuning: { workflowBundle: await badBundle('starts-more-timers') },
  });
  const talk = engine.begin();
  // Waits long enough for a busy machine.
  const said = async (text: string) =>
    await (await talk.send(text, { onBusy: 'queue' })).result({ timeout: '60s' });
  const result = await said('refund');
  if (result.status !== 'waiting') throw new Error(`the turn is ${result.status}`);
  const key = { tenant: 'default', conversationId: talk.id };
  const approved = await talk.resolve(result.pending[0]?.toolCallId ?? '', { type: 'approve' });
  await approved.final({ timeout: '60s' });
  await engine.idle(talk);
  expect(await said('And the weather?')).toMatchObject({ text: 'Sunny' });
  const before = await engine.log(talk);
  await engine.stopWorker();

  await engine.startWorker(goodCode());
  const third = await talk.send('Thanks', { requestId: 'thanks' });
  expect(third).toMatchObject({ status: 'queued', reason: 'workflow_failing' });
  const trouble = async () => (await createWorkflowSource(engine.temporal).describe(key))?.trouble;
  const found = await until('the run fails', trouble, {
    holds: (seen) => (seen?.attempts ?? 0) > 3,
    timeoutMs: 60_000,
  });
  if (found === undefined) throw new Error('the run does not fail');
  expect(found.error).toContain('TMPRL1100');

  await new TroubleWatch({ log: engine.opened.log }).found(key, found);
  // The server counts attempts from one again after a signal, so a single examination may find too few.
  const sick = await until('the doctor finds it', () => examine(engine), {
    holds: ({ ok }) => !ok,
  });
  expect(sick).toMatchObject({ ok: false, conversations: [{ conversationId: talk.id }] });
  expect(sick.conversations[0]?.next).toBe(`npx colloquy repair ${talk.id}`);
  expect(diagnosisText(sick)).toMatch(
    /FAILED {3}conversations: 1 conversations are failing[^]*failing {2}default.*TMPRL1100/,
  );

  // The server holds the signal back while a task of the run is being tried.
  const plan = await until('the message is in the history', async () => {
    const found = await planRepair(repairDeps(engine), key);
    if (found.status !== 'reset') throw new Error(`the plan is ${found.status}`);
    return found.inputs.length > 0 ? found : undefined;
  });
  if (plan === undefined) throw new Error('no plan');
  expect(plan.error).toContain('TMPRL1100');
  expect(
    plan.activities.map(({ activityId, becomes }) => [activityId.split(':')[0], becomes]),
  ).toEqual([
    ['tool', 'recorded'],
    ['model', 'recorded'],
    ['model', 'recorded'],
    ['tool', 'recorded'],
    ['model', 'recorded'],
  ]);
  expect(plan.inputs).toEqual([{ by: 'signal', name: 'sendMessage' }]);
  expect(plan.keptEvents).toBeGreaterThan(8);
  // Planning is a dry run: nothing has changed.
  expect((await engine.history.describe(engine.workflowId(talk))).runId).toBe(plan.runId);

  const repaired = await applyRepair(repairDeps(engine), key);
  if (repaired.status !== 'reset') throw new Error(`the repair is ${repaired.status}`);
  expect(repaired.newRunId).not.toBe(plan.runId);
  expect(await third.result({ timeout: '30s' })).toMatchObject({
    status: 'completed',
    text: 'Bye',
  });
  expect(services.runs.map(({ name }) => name)).toEqual(['payments.refund', 'weather.lookup']);
  // Events that readers have seen stay, and no second generation is opened.
  const after = await engine.log(talk);
  expect(after.slice(0, before.length)).toEqual(before);
  expect((await engine.opened.log.head(key))?.generation).toBe(1);
  const again = await planRepair(repairDeps(engine), key);
  expect(again).toMatchObject({ status: 'replays' });
  expect(await examine(engine)).toMatchObject({ ok: true, conversations: [] });
});
