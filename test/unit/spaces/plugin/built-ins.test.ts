/** The twelve built-in tools of an agent of spaces, over a store in memory. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { DefinitionError, defineTool, manifestOf } from '../../../../src/index.js';
import {
  calls,
  callsAll,
  responds,
  says,
  script,
  testConversation,
} from '../../../../src/testing/index.js';
import { promise } from '../../../support/promise.js';
import { BUILT_IN_NAMES } from '../../../support/spaces/built-in-names.js';
import { ANN, BOT, botWith, DESK, roomOf } from '../../../support/spaces/room-of-agent.js';
import { watched } from '../../kit/plugins/watched.js';

/** Result of the call of a tool, as the log has it. */
function resultsOf(t: Awaited<ReturnType<typeof roomOf>>['t']): readonly unknown[] {
  return t.events.flatMap((event) =>
    event.type === 'tool_result'
      ? [
          event.result.envelope.ok
            ? event.result.envelope.result
            : event.result.envelope.error.message,
        ]
      : [],
  );
}

describe('the built-in tools', () => {
  it(
    'are twelve in every agent with the plugin, and never visible',
    promise('H34', 'H35', 'S28'),
    () => {
      const { tools } = manifestOf(botWith(script()));
      expect(tools.map(({ name }) => name).sort()).toEqual(BUILT_IN_NAMES);
      expect(tools.map(({ metadata }) => metadata)).toEqual(tools.map(() => ({ visible: false })));
    },
  );

  it.each(BUILT_IN_NAMES)(
    'cannot be replaced: an own tool "%s" is an error',
    promise('H34', 'S28'),
    (name) => {
      const own = defineTool({ name, description: 'Mine.', input: z.object({}), run: () => null });
      expect(() => botWith(script(), [own])).toThrow(DefinitionError);
      expect(() => botWith(script(), [own])).toThrow(`duplicate name "${name}"`);
    },
  );

  it('fail the start of a worker whose event log has no spaces', async () => {
    const t = testConversation(botWith(script(says('hello'))));
    await t.send('Hello');
    expect(t.events.at(-1)).toMatchObject({
      type: 'turn_ended',
      error: {
        message:
          'Plugin "spaces" failed in ready, so the worker does not start: this worker has no spaces',
      },
    });
  });
});

describe('spaces', () => {
  it(
    'are entered with their history, written to, read and left',
    promise('H34', '2.H.3'),
    async () => {
      const { t, spaces, messages } = await roomOf(
        script(
          callsAll([
            { name: 'enter_space', input: { spaceId: DESK } },
            { name: 'send_message', input: { text: 'It is on its way.' } },
            { name: 'read_messages', input: { limit: 1, offset: 1 } },
            { name: 'leave_space', input: {} },
            { name: 'send_message', input: { text: 'Never sent' } },
          ]),
          says('done'),
        ),
      );
      await spaces.send(ANN, DESK, { text: 'Where is order 42?' });
      await t.send('Look into the desk');
      const asked = {
        author: { kind: 'person', id: 'ann', name: 'Ann' },
        text: 'Where is order 42?',
      };
      const [, own] = await messages();
      expect(own).toMatchObject({ author: { kind: 'agent', id: BOT }, text: 'It is on its way.' });
      expect(resultsOf(t)).toEqual([
        {
          success: true,
          spaceId: DESK,
          name: 'Desk',
          messages: [expect.objectContaining(asked)],
          total: 1,
        },
        { success: true, messageId: own?.id, status: 'complete' },
        { success: true, spaceId: DESK, messages: [expect.objectContaining(asked)], total: 2 },
        { success: true, spaceId: DESK },
        'You are not in a space. Call enter_space first.',
      ]);
      expect(await messages()).toHaveLength(2);
    },
  );

  it('of which the agent is no member do not exist for it', promise('2.H.3'), async () => {
    const { t, spaces } = await roomOf(
      script(
        callsAll([
          { name: 'enter_space', input: { spaceId: 'sp_other' } },
          { name: 'read_messages', input: { spaceId: DESK } },
          { name: 'send_message', input: { text: 'Hello' } },
        ]),
        says('done'),
      ),
    );
    await spaces.leave(ANN, DESK, { kind: 'agent', id: BOT });
    await t.send('Go');
    expect(resultsOf(t)).toEqual([
      'No space "sp_other"',
      `No space "${DESK}"`,
      'You are not in a space. Call enter_space first.',
    ]);
  });

  it('take a message once, also where the worker is lost after it was sent', async () => {
    const { t, messages } = await roomOf(
      script(
        calls('enter_space', { spaceId: DESK }),
        calls('send_message', { text: 'Once' }),
        says('done'),
      ),
    );
    t.loseRuns('send_message');
    await t.send('Go');
    expect((await messages()).map(({ text }) => text)).toEqual(['Once']);
  });

  it(
    'are in the context of each model call, and the prompt says to enter one first',
    promise('H33'),
    async () => {
      const { model, requests } = watched(calls('enter_space', { spaceId: DESK }), says('done'));
      const { t } = await roomOf(model);
      await t.send('Go');
      expect(requests[0]?.system).toContain('Enter a space before you call');
      expect(requests.map(({ messages }) => JSON.stringify(messages.at(-1)?.parts))).toEqual([
        expect.stringContaining('You are in no space.'),
        expect.stringContaining(`(${DESK})`),
      ]);
    },
  );
});

describe('goals and memories', () => {
  it(
    'are set, changed, deleted, and read with each model call',
    promise('H34', '2.H.3'),
    async () => {
      const { model, requests } = watched(
        calls('set_goals', {
          goals: [
            { id: 'g1', description: 'Ship it' },
            { id: 'a/b', description: 'Rest' },
          ],
        }),
        callsAll([
          { name: 'set_goals', input: { goals: [{ id: 'g1', status: 'completed' }] } },
          { name: 'set_memories', input: { memories: [{ key: 'ann', value: 'likes tea' }] } },
          { name: 'delete_goals', input: { goalIds: ['a/b', 'none'] } },
          { name: 'set_goals', input: { goals: [{ id: 'g9' }] } },
        ]),
        calls('delete_memories', { keys: ['ann'] }),
        says('done'),
      );
      const { t } = await roomOf(model);
      await t.send('Go');
      expect(resultsOf(t)).toEqual([
        {
          success: true,
          goals: [
            { id: 'g1', description: 'Ship it', status: 'active' },
            { id: 'a/b', description: 'Rest', status: 'active' },
          ],
        },
        { success: true, goals: [{ id: 'g1', description: 'Ship it', status: 'completed' }] },
        { success: true, keys: ['ann'] },
        { success: true, deleted: ['a/b'] },
        'goals[0].description is required: there is no goal "g9" yet',
        { success: true, deleted: ['ann'] },
      ]);
      const context = requests.map(({ messages }) => JSON.stringify(messages.at(-1)?.parts));
      expect(context[1]).toContain('- [active] g1: Ship it');
      expect(context[2]).toContain('- [completed] g1: Ship it');
      expect(context[2]).toContain('- ann: likes tea');
      expect(context[2]).not.toContain('Rest');
      expect(context[3]).not.toContain('tea');
    },
  );

  it('that would be too many are refused, and nothing is changed', async () => {
    const value = 'x'.repeat(4_000);
    const set = (from: number) => ({
      memories: Array.from({ length: 10 }, (_, index) => ({ key: `k${from + index}`, value })),
    });
    const { model, requests } = watched(
      calls('set_memories', set(0)),
      calls('set_memories', set(10)),
      says('done'),
    );
    const { t } = await roomOf(model);
    await t.send('Go');
    expect(resultsOf(t)[1]).toMatch(
      /^Your goals and memories would have \d+ bytes, more than 65536/,
    );
    const context = JSON.stringify(requests.at(-1)?.messages.at(-1)?.parts);
    expect(context.match(/- k\d+:/g)).toEqual(['- k6:', '- k7:', '- k8:', '- k9:']);
    expect(context).toContain('6 older notes are left out. The oldest: memory k0, memory k1');
  });
});

describe('plans', () => {
  it('wake the agent with their instruction at their time', promise('H34', '2.H.3'), async () => {
    const { t } = await roomOf(
      script(
        calls('set_plans', {
          plans: [{ id: 'p1', name: 'Report', instruction: 'Write it', cron: '0 9 * * *' }],
        }),
        says('planned'),
        responds((request) => says(`woken: ${JSON.stringify(request.messages.at(-2)?.parts)}`)),
      ),
    );
    await t.send('Plan the report');
    expect(resultsOf(t)).toEqual([
      {
        success: true,
        plans: [
          expect.objectContaining({
            id: 'p1',
            name: 'Report',
            instruction: 'Write it',
            cron: '0 9 * * *',
          }),
        ],
      },
    ]);
    await t.advance('1 day');
    expect(t.events.filter(({ type }) => type === 'inbox_event')).toMatchObject([
      { kind: 'trigger', payload: { title: 'Report', goal: 'Write it' } },
    ]);
  });

  it.each([
    ['runAfter', '2 hours'],
    ['scheduledAt', new Date(Date.now() + 7_200_000).toISOString()],
  ])('of %s wake the agent once, at that time', promise('H34', '2.H.3'), async (field, value) => {
    const { t } = await roomOf(
      script(
        calls('set_plans', {
          plans: [{ id: 'p1', name: 'Report', instruction: 'Write it', [field]: value }],
        }),
        says('planned'),
        says('written'),
        calls('get_plans', {}),
        says('no plans'),
      ),
      [],
      // The tool counts from the time of its worker.
      { startAt: new Date() },
    );
    await t.send('Plan the report');
    expect(t.text).toBe('planned');
    await t.advance('119 minutes');
    expect(t.text).toBe('planned');
    await t.advance('1 day');
    expect(t.events.filter(({ type }) => type === 'inbox_event')).toMatchObject([
      { kind: 'trigger', payload: { title: 'Report', goal: 'Write it' } },
    ]);
    expect(t.text).toBe('written');
    await t.send('Which plans are left?');
    expect(resultsOf(t).at(-1)).toEqual({ success: true, plans: [] });
  });

  it(
    'are replaced under their id, listed, deleted, and need exactly one time',
    promise('2.H.3'),
    async () => {
      const plan = { id: 'p1', name: 'Report', instruction: 'Write it' };
      const { t } = await roomOf(
        script(
          calls('set_plans', { plans: [{ ...plan, cron: '0 9 * * *' }] }),
          calls('set_plans', { plans: [{ ...plan, cron: '0 10 * * *' }] }),
          calls('set_plans', { plans: [{ ...plan, cron: '0 10 * * *' }] }),
          calls('get_plans', {}),
          calls('set_plans', { plans: [{ ...plan, cron: '0 10 * * *', runAfter: '1 hour' }] }),
          calls('set_plans', { plans: [{ ...plan, cron: 'never' }] }),
          calls('delete_plans', { planIds: ['p1', 'p2'] }),
          calls('get_plans', {}),
          says('done'),
        ),
      );
      await t.send('Plan');
      expect(resultsOf(t).slice(3)).toEqual([
        { success: true, plans: [expect.objectContaining({ id: 'p1', cron: '0 10 * * *' })] },
        'Plan "Report" must have exactly one of runAfter, scheduledAt and cron',
        expect.stringContaining('schedule'),
        { success: true, deleted: ['p1'] },
        { success: true, plans: [] },
      ]);
    },
  );

  it('are replaced also where the conversation has all of its triggers', async () => {
    const set = (cron: string, id = 'p1') =>
      calls('set_plans', { plans: [{ id, name: 'Report', instruction: 'Write it', cron }] });
    const { t } = await roomOf(
      script(
        set('0 9 * * *'),
        says('planned'),
        set('0 10 * * *'),
        set('0 9 * * *', 'p2'),
        calls('get_plans', {}),
        says('done'),
      ),
    );
    await t.send('Plan');
    const schedule = { type: 'interval', value: '1 hour' } as const;
    for (let count = 1; count < 20; count += 1)
      await t.triggers.create({ title: 'Look', goal: 'Look', schedule });
    await t.send('Later, please');
    const plans = [expect.objectContaining({ id: 'p1', cron: '0 10 * * *' })];
    expect(resultsOf(t).slice(1)).toEqual([
      { success: true, plans },
      expect.stringContaining('trigger'),
      { success: true, plans },
    ]);
  });
});

describe('skip', () => {
  it(
    'ends the cycle at once, without a trace in what the model reads later',
    promise('H34', '2.H.1'),
    async () => {
      const { model, requests } = watched(calls('skip', {}), says('Hello.'));
      const { t } = await roomOf(model);
      await t.send('Nothing for you');
      expect(resultsOf(t)).toEqual([{ success: true, skipped: true }]);
      expect(t.snapshot.turn).toBeUndefined();
      expect(requests).toHaveLength(1);
      await t.send('Now');
      expect(JSON.stringify(requests[1]?.messages)).not.toContain('skip');
    },
  );
});
