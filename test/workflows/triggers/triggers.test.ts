/** Triggers on a real server: schedules that start a workflow, which delivers an event. */
import { ScheduleNotFoundError } from '@temporalio/client';
import { expect, onTestFinished, test } from 'vitest';
import { TemporalGateway } from '../../../src/client/temporal/temporal-gateway.js';
import { deliverTrigger } from '../../../src/client/triggers/deliver.js';
import { scheduleOptionsOf } from '../../../src/client/triggers/schedule-options.js';
import { TriggerSchedules } from '../../../src/client/triggers/schedules.js';
import { defineAgent } from '../../../src/define/define-agent.js';
import { triggerTools } from '../../../src/define/trigger-tools.js';
import { calls, type ScriptedModel, says, script } from '../../../src/model/scripted/scripted.js';
import type { ScriptedAnswer } from '../../../src/model/scripted/types.js';
import { createHousekeeping } from '../../../src/projection/duties/housekeeping.js';
import { nextTriggerTime } from '../../../src/protocol/triggers/rules.js';
import type { TriggerInput, TriggerSchedule } from '../../../src/protocol/triggers/triggers.js';
import { type Engine, startEngine } from '../../support/engine/engine.js';
import { eventsIn, runsOf, schedulesOf, soon, speedUp } from '../../support/engine/triggers.js';
import { patient } from '../../support/patience.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';

const agentWith = (model: ScriptedModel) =>
  defineAgent({ name: 'clerk', model, instructions: 'Help.', tools: triggerTools() });

/** A model that answers every event. */
const answers = (...first: readonly ScriptedAnswer[]) =>
  script(...first, ...Array.from({ length: 50 }, () => says('ok')));

async function begun(model = answers()) {
  const engine = await startEngine({ agents: [agentWith(model)] });
  const { talk } = await engine.ask('Hi');
  return { engine, talk, triggers: talk.triggers({ actor: { id: 'ann', roles: ['lead'] } }) };
}

const hourly = {
  title: 'Report',
  goal: 'Write the report.',
  schedule: { type: 'interval', value: '1 hour' },
} as const;

test('a trigger that comes once begins a turn in the name of its maker, and is gone', {
  ...promise('G324', 'G326'),
}, async () => {
  const { engine, talk, triggers } = await begun();
  const at = soon();
  const made = await triggers.create({
    ...{ id: 'wake', title: 'Wake', goal: 'Look again.' },
    schedule: { type: 'once', value: at },
  });
  expect(made).toMatchObject({ status: 'active', nextAt: at, madeBy: 'client', invocations: 0 });
  const [event] = await until('it comes', () => eventsIn(engine, talk), {
    holds: (seen) => seen.length > 0,
  });
  expect(event).toMatchObject({
    kind: 'trigger',
    eventId: `trigger:wake:${at}`,
    payload: { triggerId: 'wake', title: 'Wake', goal: 'Look again.', scheduledAt: at },
  });
  expect(Date.parse(event?.at ?? '')).toBeLessThan(Date.parse(at) + patient(10_000));
  const turns = (await engine.log(talk)).flatMap((each) =>
    each.type === 'turn_started' ? [each] : [],
  );
  expect(turns).toHaveLength(2);
  await until('its schedule is removed', () => triggers.list(), {
    holds: (list) => list.length === 0,
  });
  await expect(triggers.get('wake')).rejects.toMatchObject({ code: 'unknown_trigger' });
});

test('a trigger comes as often as it may, with the note that the agent left at the event before', {
  ...promise('G326', 'G330'),
}, async () => {
  const model = answers(
    says('Hello'),
    calls('trigger.note', { triggerId: 'pages', note: 'at page 2' }),
    says('1'),
  );
  const { engine, talk, triggers } = await begun(model);
  await triggers.create({ ...hourly, id: 'pages', maxInvocations: 2, note: 'at page 1' });
  await speedUp(engine, talk, 'pages', '4s');
  const events = await until('both come', () => eventsIn(engine, talk), {
    holds: (seen) => seen.length === 2,
  });
  expect(events.map(({ payload }) => (payload as { note?: string }).note)).toEqual([
    'at page 1',
    'at page 2',
  ]);
  await until('it is removed', () => triggers.list(), { holds: (list) => list.length === 0 });
});

test('a trigger is listed, paused, resumed and removed; what is under way when it is removed does not come', {
  ...promise('G326'),
}, async () => {
  const { engine, talk, triggers } = await begun();
  await triggers.create({ ...hourly, id: 'a' });
  await triggers.create({
    ...hourly,
    id: 'b',
    schedule: { type: 'cron', value: '0 9 * * 1', timeZone: 'Europe/Berlin' },
  });
  const listed = await until('both are listed', () => triggers.list(), {
    holds: (list) => list.length === 2,
  });
  expect(listed.map(({ id, schedule }) => [id, schedule.type])).toEqual([
    ['a', 'interval'],
    ['b', 'cron'],
  ]);
  expect(await triggers.pause('a')).toMatchObject({ status: 'paused' });
  expect(await triggers.pause('a')).toMatchObject({ status: 'paused' });
  expect(await triggers.resume('a')).toMatchObject({ status: 'active' });
  expect(await triggers.setNote('a', 'n')).toMatchObject({ note: 'n' });
  expect(await triggers.setNote('a', '')).not.toHaveProperty('note');

  await engine.stopWorker();
  await speedUp(engine, talk, 'a', '1s');
  await until('a run waits for a worker', () => runsOf(engine, talk), {
    holds: (runs) => runs.length > 0,
  });
  await triggers.remove('a');
  await engine.startWorker();
  expect(
    await until('the run has ended', () => runsOf(engine, talk), {
      holds: (runs) => runs.every(({ status }) => status !== 'RUNNING'),
    }),
  ).toMatchObject([{ status: 'TERMINATED' }]);
  await engine.say(talk, 'Still there?');
  expect(await eventsIn(engine, talk)).toEqual([]);
  await expect(triggers.remove('a')).rejects.toMatchObject({ code: 'unknown_trigger' });
});

test('a repeat under the same id is the same trigger; bounds name their rule', {
  ...promise('G325'),
}, async () => {
  const { triggers, engine } = await begun();
  const made = await triggers.create({ ...hourly, id: 'r' });
  expect(await triggers.create({ ...hourly, id: 'r' })).toEqual(made);
  await expect(triggers.create({ ...hourly, id: 'r', goal: 'Other' })).rejects.toMatchObject({
    code: 'invalid_request',
    problems: [{ path: '/id' }],
  });
  await expect(
    triggers.create({ ...hourly, schedule: { type: 'interval', value: '5s' } }),
  ).rejects.toMatchObject({ problems: [{ path: '/schedule/value' }] });
  await expect(engine.client.conversation('never').triggers().create(hourly)).rejects.toMatchObject(
    {
      code: 'unknown_conversation',
    },
  );
  for (let count = 1; count < 20; count += 1)
    await triggers.create({ ...hourly, id: `t-${count}` });
  await until('all are listed', () => triggers.list(), { holds: (list) => list.length === 20 });
  await expect(triggers.create(hourly)).rejects.toMatchObject({ code: 'too_many_triggers' });
  await triggers.create({ ...hourly, id: 'instead' }, { replaces: ['t-1', 'none'] });
  const ids = await until('one is in the place of another', () => triggers.list(), {
    holds: (list) => list.some(({ id }) => id === 'instead') && list.length === 20,
  });
  expect(ids.map(({ id }) => id)).not.toContain('t-1');
});

test('an event that is delivered again, as after the loss of a worker, comes once', {
  ...promise('G327'),
}, async () => {
  const { engine, talk, triggers } = await begun();
  await triggers.create({ ...hourly, id: 'twice' });
  const { temporal, taskQueue } = engine;
  const schedules = new TriggerSchedules(temporal);
  const stored = await schedules.find({ tenant: 'default', conversationId: talk.id }, 'twice');
  const gateway = new TemporalGateway({ temporal, taskQueue, searchAttributes: true });
  const input = { ...stored?.input, scheduledAt: '2026-01-01T00:00:00.000Z' } as never;
  const deliver = () => deliverTrigger({ gateway, schedules }, input);
  expect(await deliver()).toEqual({ outcome: 'delivered' });
  expect(await deliver()).toEqual({ outcome: 'delivered' });
  expect(await eventsIn(engine, talk)).toHaveLength(1);
});

test('one event comes when workers are back, however many fell due', {
  ...promise('G331'),
}, async () => {
  const { engine, talk, triggers } = await begun();
  await triggers.create({ ...hourly, id: 'busy', maxInvocations: 2 });
  await engine.stopWorker();
  await speedUp(engine, talk, 'busy', '1s');
  const skipped = async () => {
    const { info } = await engine.temporal.schedule
      .getHandle(`trigger:default:${talk.id}:busy`)
      .describe();
    return info.numActionsSkippedOverlap;
  };
  await until('others fall due', skipped, { holds: (count) => count >= 3 });
  await triggers.pause('busy');
  await engine.startWorker();
  await until('it comes', () => eventsIn(engine, talk), { holds: (seen) => seen.length > 0 });
  await until('its run ends', () => runsOf(engine, talk), {
    holds: (runs) => runs.every(({ status }) => status === 'COMPLETED'),
  });
  expect(await eventsIn(engine, talk)).toHaveLength(1);
  // Only the event that came counts.
  expect(await triggers.get('busy')).toMatchObject({ invocations: 1, status: 'paused' });
});

test('the agent makes a trigger by a tool, and its run may be lost', {
  ...promise('G330'),
}, async () => {
  const { talk, triggers } = await begun(answers(calls('trigger.create', hourly), says('Made.')));
  const [made] = await until('it is listed', () => triggers.list(), {
    holds: (list) => list.length > 0,
  });
  expect(made).toMatchObject({ madeBy: 'agent', createdBy: { id: 'tester' }, title: 'Report' });
  expect(made?.id).toMatch(/^t-[0-9a-f]{16}-1$/);
  await talk.triggers().remove(made?.id ?? '');
});

test('a closed conversation gets no event, and deleting it removes its triggers and their runs', {
  ...promise('G329'),
  timeout: patient(300_000),
}, async () => {
  const { engine, talk, triggers } = await begun();
  const beside = engine.begin(`${talk.id}-2`);
  await engine.say(beside, 'Hi');
  await beside.triggers().create({ ...hourly, id: 'kept' });
  await triggers.create({ ...hourly, id: 'closed' });
  await talk.close();
  await speedUp(engine, talk, 'closed', '1s');
  await until('the trigger is removed', () => schedulesOf(engine, talk), {
    holds: (ids) => ids.length === 0,
  });
  expect(await eventsIn(engine, talk)).toEqual([]);
  await expect(triggers.create(hourly)).rejects.toMatchObject({ code: 'conversation_closed' });

  await engine.client.deleteConversation(beside.id);
  await until('its schedule is gone', () => schedulesOf(engine, beside), {
    holds: (ids) => ids.length === 0,
  });
  await engine.client.deleteConversation(talk.id);
  // The server may forget the request for a run that has only just ended: then a worker asks again.
  const { temporal: client, opened, taskQueue } = engine;
  const duties = createHousekeeping({ client, opened, taskQueue, resumeAfterMs: 20_000 });
  const left = async () => {
    await duties.pass();
    return await runsOf(engine, talk);
  };
  await until('its runs are gone', left, {
    holds: (runs) => runs.length === 0,
    timeoutMs: 240_000,
  });
});

test('deleting a tenant removes its triggers, also those whose conversation is not listed', {
  ...promise('G329'),
}, async () => {
  const engine = await startEngine({ agents: [agentWith(answers())], workerless: true });
  const tenant = `gone-${engine.taskQueue}`;
  const made = async (of: string) => {
    const input: TriggerInput = {
      ...{ tenant: of, conversationId: engine.taskQueue, triggerId: 'x', firstRunId: 'none' },
      ...{ title: 'T', goal: 'G', schedule: hourly.schedule, madeBy: 'client' },
      createdAt: new Date().toISOString(),
      createdBy: { id: 'ann', verified: true, channel: 'client' },
    };
    return await engine.temporal.schedule.create(scheduleOptionsOf(input, engine.taskQueue));
  };
  const [gone, kept] = [await made(tenant), await made(`${tenant}-2`)];
  onTestFinished(() => kept.delete());
  const listed = async () => {
    const ids: string[] = [];
    for await (const { scheduleId } of engine.temporal.schedule.list())
      if (scheduleId.includes(engine.taskQueue)) ids.push(scheduleId);
    return ids;
  };
  await until('both are listed', listed, { holds: ({ length }) => length === 2 });
  expect(await engine.client.deleteTenant(tenant)).toEqual({ deleted: 0 });
  await expect(gone.describe()).rejects.toThrow(ScheduleNotFoundError);
  expect((await kept.describe()).scheduleId).toBe(kept.scheduleId);
});

const SCHEDULES: readonly TriggerSchedule[] = [
  { type: 'once', value: '2027-02-03T04:05:06+05:30' },
  { type: 'interval', value: '17 minutes' },
  { type: 'cron', value: '*/15 8-10 * * mon-fri', timeZone: 'America/New_York' },
  { type: 'cron', value: '0 6 1 * mon' },
  { type: 'cron', value: '30 2 * 3,10 *', timeZone: 'Europe/Berlin' },
  { type: 'cron', value: '30 2 * * 0', timeZone: 'Europe/Berlin' },
  { type: 'cron', value: '5 1,3 29 2 *' },
  { type: 'cron', value: '0 0 28-31/2 * 7', timeZone: 'Asia/Kolkata' },
  { type: 'cron', value: '15 0 * * *', timeZone: 'Pacific/Kiritimati' },
];

test.each(SCHEDULES)(
  'the server computes the same times for $value as the engine',
  {
    ...promise('G324'),
  },
  async (schedule) => {
    const engine: Engine = await startEngine({ agents: [agentWith(answers())], workerless: true });
    const createdAt = new Date().toISOString();
    const input: TriggerInput = {
      ...{
        tenant: 'default',
        conversationId: engine.taskQueue,
        triggerId: 'x',
        firstRunId: 'none',
      },
      ...{ title: 'T', goal: 'G', schedule, madeBy: 'client', createdAt },
      createdBy: { id: 'ann', verified: true, channel: 'client' },
    };
    const handle = await engine.temporal.schedule.create(
      scheduleOptionsOf(input, engine.taskQueue),
    );
    const { info, raw } = await handle.describe();
    await handle.delete();
    const expected = info.nextActionTimes.map((time) => time.toISOString());
    const own: string[] = [];
    const createdMs = Date.parse(createdAt);
    for (let last = Date.now(); own.length < expected.length; ) {
      last = nextTriggerTime({ schedule }, createdMs, last) ?? Number.NaN;
      own.push(new Date(last).toISOString());
    }
    expect(raw.schedule?.policies?.overlapPolicy).toBe(1);
    expect(own).toEqual(expected);
  },
);
