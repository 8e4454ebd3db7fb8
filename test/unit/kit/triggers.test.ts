/** Triggers in the test kit: on the virtual clock, by the rules of the engine. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { AgentSettingsSpec } from '../../../src/index.js';
import {
  defineAgent,
  defineTool,
  jsonSchema,
  ToolRetry,
  triggerTools,
} from '../../../src/index.js';
import type { ScriptedAnswer } from '../../../src/model/scripted/types.js';
import type { Json } from '../../../src/protocol/values/json.js';
import { calls, says, script, testConversation } from '../../../src/testing/index.js';
import { promise } from '../../support/promise.js';

type Answers = readonly ScriptedAnswer[];

const hourly = {
  title: 'Report',
  goal: 'Write it.',
  schedule: { type: 'interval', value: '1 hour' },
} as const;

function talkTo(
  answers: Answers,
  spec?: Parameters<typeof triggerTools>[0],
  settings?: AgentSettingsSpec,
) {
  const tools = triggerTools(spec);
  const model = script(...answers, ...Array.from({ length: 30 }, () => says('ok')));
  const rest = settings === undefined ? {} : { settings };
  return testConversation(
    defineAgent({ name: 'clerk', model, instructions: 'Help.', tools, ...rest }),
  );
}

const eventsOf = (talk: ReturnType<typeof talkTo>) =>
  talk.events.flatMap((event) =>
    event.type === 'inbox_event' ? [event.payload as Record<string, Json>] : [],
  );

const turnsOf = ({ events }: Pick<ReturnType<typeof talkTo>, 'events'>): number =>
  events.filter(({ type }) => type === 'turn_ended').length;

describe('a trigger of the application', () => {
  it(
    'comes in its interval, as often as it may, and is gone then',
    promise('G324', 'G326'),
    async () => {
      const talk = talkTo([]);
      await talk.send('Hi');
      const made = await talk.triggers.create({ ...hourly, maxInvocations: 2 });
      expect(made).toMatchObject({ status: 'active', madeBy: 'client', invocations: 0 });
      expect(made.nextAt).toBe('2026-01-01T01:00:00.000Z');
      await talk.advance('59 minutes');
      expect(eventsOf(talk)).toEqual([]);
      await talk.advance('1 minute');
      expect(eventsOf(talk)).toMatchObject([{ triggerId: made.id, goal: 'Write it.' }]);
      expect(turnsOf(talk)).toBe(2);
      await talk.advance('1 day');
      expect(eventsOf(talk)).toHaveLength(2);
      expect(await talk.triggers.list()).toEqual([]);
    },
  );

  it(
    'has its note in the next event, and keeps it until it is replaced',
    promise('G326'),
    async () => {
      const talk = talkTo([]);
      await talk.send('Hi');
      const { id } = await talk.triggers.create({ ...hourly, note: 'one' });
      await talk.advance('1 hour');
      await talk.triggers.setNote(id, 'two');
      await talk.advance('2 hours');
      await talk.triggers.setNote(id, '');
      await talk.advance('1 hour');
      expect(eventsOf(talk).map(({ note }) => note)).toEqual(['one', 'two', 'two', undefined]);
    },
  );

  it('skips the events of its pause', promise('G326'), async () => {
    const talk = talkTo([]);
    await talk.send('Hi');
    const { id } = await talk.triggers.create(hourly);
    expect(await talk.triggers.pause(id)).toMatchObject({ status: 'paused' });
    expect((await talk.triggers.get(id)).nextAt).toBeUndefined();
    await talk.advance('3 hours');
    expect(await talk.triggers.resume(id)).toMatchObject({ nextAt: '2026-01-01T04:00:00.000Z' });
    await talk.advance('1 hour');
    expect(eventsOf(talk)).toHaveLength(1);
    await talk.triggers.remove(id);
    await talk.advance('1 day');
    expect(eventsOf(talk)).toHaveLength(1);
    await expect(talk.triggers.remove(id)).rejects.toMatchObject({ code: 'unknown_trigger' });
  });

  it(
    'ends with its conversation, and cannot be made for a closed one',
    promise('G329'),
    async () => {
      const talk = talkTo([]);
      await talk.send('Hi');
      await talk.triggers.create(hourly);
      talk.close();
      await talk.advance('1 hour');
      expect(await talk.triggers.list()).toEqual([]);
      await expect(talk.triggers.create(hourly)).rejects.toMatchObject({
        code: 'conversation_closed',
      });
    },
  );

  it(
    'is one trigger when it is made again under its id, and no other',
    promise('G325'),
    async () => {
      const talk = talkTo([]);
      await talk.send('Hi');
      await talk.triggers.create({ ...hourly, id: 'r' });
      expect(await talk.triggers.create({ ...hourly, id: 'r', note: 'n' })).toMatchObject({
        id: 'r',
      });
      await expect(
        talk.triggers.create({ ...hourly, id: 'r', goal: 'Other' }),
      ).rejects.toMatchObject({
        code: 'invalid_request',
      });
      for (let count = 1; count < 20; count += 1) await talk.triggers.create(hourly);
      await expect(talk.triggers.create(hourly)).rejects.toMatchObject({
        code: 'too_many_triggers',
      });
      await talk.triggers.create({ ...hourly, id: 's' }, { replaces: ['r', 'none'] });
      const ids = (await talk.triggers.list()).map(({ id }) => id);
      expect(ids).toHaveLength(20);
      expect(ids).toContain('s');
      expect(ids).not.toContain('r');
    },
  );
});

describe('the tools of an agent', () => {
  const create = calls('trigger.create', hourly);

  it('make a trigger whose note goes from one event to the next', promise('G330'), async () => {
    const talk = talkTo([create, says('Made.')]);
    await talk.send('Report each hour', { actor: { id: 'ann' } });
    const [made] = await talk.triggers.list();
    expect(made).toMatchObject({ madeBy: 'agent', createdBy: { id: 'ann' } });
    await talk.triggers.setNote(made?.id ?? '', 'at page 7');
    await talk.advance('1 hour');
    expect(eventsOf(talk)).toMatchObject([{ goal: 'Write it.', note: 'at page 7' }]);
  });

  it('make one trigger in each call, also where a call runs again', promise('G327'), async () => {
    const talk = talkTo([create, create, says('Made.')]);
    talk.loseRuns('trigger.create', 1);
    await talk.send('Report');
    expect(await talk.triggers.list()).toHaveLength(2);

    let runs = 0;
    const twice = defineTool({
      name: 'report.plan',
      description: 'Plans the report.',
      input: z.object({}),
      effects: 'idempotent',
      run: async (_input, { triggers }) => {
        const { id } = await triggers.create(hourly);
        runs += 1;
        if (runs === 1) throw new ToolRetry({ message: 'not yet' });
        return id;
      },
    });
    const agent = defineAgent({
      name: 'planner',
      model: script(calls('report.plan', {}), says('Made.')),
      instructions: 'x',
      tools: [twice],
    });
    const other = testConversation(agent);
    await other.send('Report');
    const [made, ...more] = await other.triggers.list();
    expect([runs, more]).toEqual([2, []]);
    expect(other.result('report.plan')).toEqual({ ok: true, result: made?.id });
  });

  it.each([
    [
      { ...hourly, schedule: { type: 'interval', value: '5 minutes' } },
      'at least 10 minutes apart',
    ],
    [{ ...hourly, schedule: { type: 'cron', value: '0,1 9 * * *' } }, 'at least 10 minutes apart'],
    [{ ...hourly, schedule: { type: 'cron', value: 'daily' } }, 'must have five fields'],
  ])('refuse %j with the rule, as a result', promise('G330'), async (input, why) => {
    const talk = talkTo([calls('trigger.create', input), says('Oh.')]);
    await talk.send('Report');
    expect(talk.result('trigger.create')).toMatchObject({
      ok: false,
      error: { code: 'tool_error' },
    });
    expect(JSON.stringify(talk.result('trigger.create'))).toContain(why);
    expect(await talk.triggers.list()).toEqual([]);
  });

  it('hold the bounds that the agent is given', promise('G330'), async () => {
    const other = calls('trigger.create', { ...hourly, title: 'Other' });
    const talk = talkTo([create, other, says('Oh.')], { maxTriggers: 1, minInterval: '1 hour' });
    await talk.send('Report');
    expect(talk.result('trigger.create')).toMatchObject({
      error: { message: 'You have 1 triggers already; remove one first' },
    });
    expect(() => triggerTools({ maxTriggers: 21 })).toThrow('maxTriggers: must be a whole number');
    expect(() => triggerTools({ minInterval: '1s' })).toThrow(
      'minInterval: must be at least 1 minute',
    );
  });

  it('remove triggers of the agent, and none of people', promise('G330'), async () => {
    const remove = (triggerId: string) => calls('trigger.remove', { triggerId });
    const talk = talkTo([
      create,
      says('Made.'),
      remove('theirs'),
      says('No.'),
      remove('none'),
      says('No.'),
    ]);
    await talk.send('Report');
    await talk.triggers.create({ ...hourly, id: 'theirs' });
    await talk.send('Remove theirs');
    expect(JSON.stringify(talk.result('trigger.remove'))).toContain('was made by people');
    await talk.send('Remove none');
    expect(JSON.stringify(talk.result('trigger.remove'))).toContain('No trigger');
    expect(await talk.triggers.list()).toHaveLength(2);
  });

  it('wait for an approval where the agent asks for one', promise('G330'), async () => {
    const talk = talkTo([create, says('Made.')], { approval: 'required' });
    await talk.send('Report');
    expect(await talk.triggers.list()).toEqual([]);
    await talk.approve('trigger.create');
    expect(await talk.triggers.list()).toHaveLength(1);
  });
});

it('code of any tool makes triggers by its context', promise('G330'), async () => {
  const watch = defineTool({
    name: 'parcel.watch',
    description: 'Watch a parcel',
    input: jsonSchema({ type: 'object' }),
    run: async (_input, { triggers }) => (await triggers.create(hourly)).status,
  });
  const model = script(calls('parcel.watch', {}), says('I watch.'), says('Nothing new.'));
  const talk = testConversation(
    defineAgent({ name: 'clerk', model, instructions: 'x', tools: [watch] }),
  );
  await talk.send('Watch it');
  await talk.advance('1 hour');
  expect(turnsOf(talk)).toBe(2);
});
