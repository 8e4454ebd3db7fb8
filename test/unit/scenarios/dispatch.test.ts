/**
 * Two independent settings of a call: which executor makes its result, and whether the turn waits for it. Scenarios
 * S2, S24 and S39; the other half of S24, tools that are an address, comes with them.
 */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { AnyTool } from '../../../src/define/tool/types.js';
import { defineAgent, defineTool } from '../../../src/index.js';
import type { ScriptedModel } from '../../../src/model/scripted/scripted.js';
import type { ScriptedCall } from '../../../src/model/scripted/types.js';
import type { Json } from '../../../src/protocol/values/json.js';
import {
  calls,
  callsAll,
  says,
  script,
  type TestConversation,
  testConversation,
} from '../../../src/testing/index.js';
import { modelCalls } from '../../support/builders/core-builders.js';
import { promise } from '../../support/promise.js';
import { aMachineWith } from '../../support/schedules/core-driver.js';

const base = { description: 'Does what the test says.', input: z.object({ n: z.int() }) };
const runs: number[] = [];
const TOOLS = {
  'work.server': defineTool({
    ...base,
    name: 'work.server',
    run: ({ n }) => {
      runs.push(n);
      return { worked: n };
    },
  }),
  'work.server_detached': defineTool({
    ...base,
    name: 'work.server_detached',
    mode: 'detach',
    run: ({ n }) => ({ worked: n }),
  }),
  'work.internal': defineTool({ ...base, name: 'work.internal', executor: 'internal' }),
  'work.human': defineTool({ ...base, name: 'work.human', executor: 'human' }),
  'work.human_detached': defineTool({
    ...base,
    name: 'work.human_detached',
    executor: 'human',
    mode: 'detach',
  }),
  'work.client': defineTool({ ...base, name: 'work.client', executor: 'client' }),
  'work.external': defineTool({ ...base, name: 'work.external', executor: 'external' }),
  'work.external_detached': defineTool({
    ...base,
    name: 'work.external_detached',
    executor: 'external',
    mode: 'detach',
  }),
} satisfies Readonly<Record<string, AnyTool>>;
type Name = keyof typeof TOOLS;

interface Asked extends TestConversation<unknown> {
  readonly model: ScriptedModel;
  /** The last message of the latest request to the model. */
  readonly reads: () => unknown;
}

async function asked(...scripted: readonly ScriptedCall[]): Promise<Asked> {
  const model = script(callsAll(scripted), says('And?'), says('So.'));
  const agent = defineAgent({
    name: 'worker',
    model,
    instructions: 'Work.',
    tools: Object.values<AnyTool>(TOOLS),
  });
  const t = testConversation(agent);
  await t.send('work');
  return Object.assign(t, { model, reads: () => model.requests.at(-1)?.messages.at(-1) });
}

const call = (name: Name): ScriptedCall => ({ name, input: { n: 1 } });

const pending = (id: string) => ({
  ok: true,
  result: { status: 'pending', pendingToolCallId: id },
});

/** The message in which the model reads the result of one call. */
const reading = (envelope: object) => ({
  role: 'tool',
  parts: [{ toolCallId: 'call_1', envelope }],
});

/** The value of the outside party, as the answer or result that the wait takes. */
async function give(t: Asked, value: Json): Promise<void> {
  const type = t.pending[0]?.kind === 'elicitation' ? 'answer' : 'result';
  expect(await t.resolve('call_1', { type, value })).toMatchObject({ verdict: 'accepted' });
}

const NAMES = Object.keys(TOOLS) as Name[];
const OF_A_CALL: readonly string[] = [
  'tool_call',
  'suspension',
  'resolution',
  'tool_result',
  'inbox_event',
];

describe('a call', () => {
  it('of a server tool runs its code once, and the model reads the result without any outside input', {
    ...promise('A2', 'A22', 'A54', 'H8', 'X12', 'X17', 'X35'),
  }, async () => {
    const before = runs.length;
    const t = await asked(call('work.server'));
    expect(runs.slice(before)).toEqual([1]);
    expect(t.eventTypes).not.toContain('suspension');
    expect(t.reads()).toMatchObject(reading({ ok: true, result: { worked: 1 } }));
    expect(t.text).toBe('And?');
    t.expectNothingOpen();
  });

  it('of an internal tool runs no code: its input is the result, at once', {
    ...promise('A2', 'A22', 'H8', 'H18', 'H24', 'H25', 'H30'),
  }, async () => {
    const before = runs.length;
    const t = await asked(call('work.internal'));
    expect(runs).toHaveLength(before);
    expect(t.eventTypes).not.toContain('suspension');
    expect(t.result('work.internal')).toEqual({
      ok: true,
      result: { success: true, args: { n: 1 } },
    });
    expect(t.text).toBe('And?');
    t.expectNothingOpen();
  });

  it('of a human tool waits for a person, whose answer is the result without a further step', {
    ...promise('A2', 'A6', 'A22', 'A54', 'H8', 'H17'),
  }, async () => {
    const t = await asked(call('work.human'));
    expect(t.pending).toMatchObject([{ kind: 'elicitation', executor: 'human' }]);
    expect(t.result('work.human')).toBeUndefined();
    expect(t.model.requests).toHaveLength(1);
    const before = t.events.length;
    await give(t, 'yes');
    expect(t.eventTypes.slice(before, before + 2)).toEqual(['resolution', 'tool_result']);
    expect(t.reads()).toMatchObject(reading({ ok: true, result: 'yes' }));
    t.expectNothingOpen();
  });

  it('of a client tool is handed to the client, which supplies the result', {
    ...promise('A2', 'A7', 'A22', 'X12', 'X29'),
  }, async () => {
    const t = await asked(call('work.client'));
    expect(t.pending).toMatchObject([{ kind: 'client_execution', executor: 'client' }]);
    expect(t.model.requests).toHaveLength(1);
    await give(t, { lat: 1 });
    expect(t.reads()).toMatchObject(reading({ ok: true, result: { lat: 1 } }));
    t.expectNothingOpen();
  });

  it('of an external tool waits for another server, which supplies the result', {
    ...promise('A2', 'A22', 'H8'),
  }, async () => {
    const t = await asked(call('work.external'));
    expect(t.pending).toMatchObject([{ kind: 'external_execution', executor: 'external' }]);
    expect(t.model.requests).toHaveLength(1);
    await give(t, { owner: 'bob' });
    expect(t.reads()).toMatchObject(reading({ ok: true, result: { owner: 'bob' } }));
    t.expectNothingOpen();
  });

  it.each(['work.human', 'work.client', 'work.external'] as const)(
    'of %s brings no input besides its result when the turn has waited for it',
    promise('H45'),
    async (name) => {
      const t = await asked(call(name));
      await give(t, 'x');
      expect(t.eventTypes).not.toContain('inbox_event');
      expect(t.eventsOf('tool_result')).toHaveLength(1);
      expect(t.eventsOf('turn_started')).toHaveLength(1);
    },
  );

  it.each(['work.server_detached', 'work.human_detached', 'work.external_detached'] as const)(
    'of %s is pending for the model at once, and its result is new input',
    promise('H19', 'H24'),
    async (name) => {
      const t = await asked(call(name));
      expect(t.result(name)).toEqual(pending('call_1'));
      expect(t.eventsOf('turn_ended')[0]).toMatchObject({ text: 'And?' });
      if (!TOOLS[name].executesFully) await give(t, 'x');
      expect(t.eventsOf('inbox_event')).toMatchObject([{ toolCallId: 'call_1' }]);
      expect(t.eventsOf('tool_result')).toHaveLength(1);
      expect(t.text).toBe('So.');
      t.expectNothingOpen();
    },
  );

  it.each([
    ['work.server', 'work.server_detached', { worked: 1 }],
    ['work.human', 'work.human_detached', 'x'],
    ['work.external', 'work.external_detached', 'x'],
  ] as const)(
    'of %s has the same producer as of %s, and the setting of the wait changes only whether the turn waits',
    promise('S24', 'A1', 'H19'),
    async (awaited, detached, value) => {
      const [a, b] = [await asked(call(awaited)), await asked(call(detached))];
      expect(b.pending.map(({ kind }) => kind)).toEqual(a.pending.map(({ kind }) => kind));
      expect(b.result(detached)).toEqual(pending('call_1'));
      if (!TOOLS[awaited].executesFully) {
        expect(a.model.requests).toHaveLength(1);
        await give(a, 'x');
        await give(b, 'x');
      }
      expect(a.result(awaited)).toEqual({ ok: true, result: value });
      expect(b.eventsOf('inbox_event')).toMatchObject([
        { result: { envelope: { ok: true, result: value } } },
      ]);
    },
  );

  it.each(NAMES)(
    'of %s waits for an outside party exactly if its tool does not execute fully on the server',
    promise('X3', 'X19', 'X29'),
    async (name) => {
      const t = await asked(call(name));
      expect(t.eventTypes.includes('suspension')).toBe(!TOOLS[name].executesFully);
    },
  );

  it.each(NAMES)(
    'of %s has the executor of its tool in its plan, by which the loop decides without the tool',
    promise('A24', 'X3', 'X39'),
    async (name) => {
      const t = await asked(call(name));
      const plans = t.eventsOf('tool_call').map((event) => event.call);
      expect(plans).toMatchObject([{ name, executor: TOOLS[name].executor }]);
      // The core has the plans alone, here under a name that no tool has.
      const alone = aMachineWith(modelCalls(plans.map((plan) => ({ ...plan, name: 'no.tool' }))));
      expect(alone.effectTypes().includes('run_tool')).toBe(TOOLS[name].executor === 'server');
      expect(alone.pending.map(({ kind }) => kind)).toEqual(t.pending.map(({ kind }) => kind));
    },
  );

  it.each(NAMES)(
    'of %s is recorded by the same events as any other, and only its wait adds to them',
    promise('H57'),
    async (name) => {
      const t = await asked(call(name));
      const { executesFully, mode } = TOOLS[name];
      if (!executesFully) await give(t, 'x');
      const wait = executesFully ? [] : ['suspension', 'resolution'];
      const result = ['tool_result', ...(mode === 'detach' ? ['inbox_event'] : [])];
      expect(t.eventTypes.filter((type) => OF_A_CALL.includes(type)).sort()).toEqual(
        ['tool_call', ...wait, ...result].sort(),
      );
    },
  );

  it.each(NAMES)(
    'of %s with bad arguments is never offered: the model reads their faults',
    promise('H57', 'X13'),
    async (name) => {
      const before = runs.length;
      const t = await asked({ name, input: { n: 'one' } });
      expect(t.result(name)).toMatchObject({ ok: false, error: { code: 'invalid_input' } });
      expect(t.eventTypes).not.toContain('suspension');
      expect(runs).toHaveLength(before);
      expect(t.snapshot.status).toBe('idle');
    },
  );
});

describe('the calls of one step', () => {
  it('are read by the model together, in its order, when the last of them has come', {
    ...promise('S2', 'A26'),
  }, async () => {
    const t = await asked(
      { name: 'work.server', input: { n: 1 } },
      { name: 'work.human', input: { n: 2 } },
      { name: 'work.server', input: { n: 3 } },
    );
    expect(t.snapshot).toMatchObject({
      status: 'awaiting_input',
      inFlightTools: [],
      pending: [{ toolCallId: 'call_2' }],
    });
    expect(t.text).toBe('');
    await t.resolve('work.human', { type: 'answer', value: 'two' });
    expect(t.reads()).toMatchObject({
      role: 'tool',
      parts: [
        { toolCallId: 'call_1', envelope: { result: { worked: 1 } } },
        { toolCallId: 'call_2', envelope: { result: 'two' } },
        { toolCallId: 'call_3', envelope: { result: { worked: 3 } } },
      ],
    });
    expect(t.text).toBe('And?');
  });
});

describe('a model that only calls server tools', () => {
  it('loops without outside input, and is stopped at the safeguard with the text that says so', {
    ...promise('S39', 'C38', 'X12', 'X36'),
  }, async () => {
    const answers = Array.from({ length: 30 }, (_, n) => calls('work.server', { n }));
    const model = script(...answers);
    const agent = defineAgent({
      name: 'looper',
      model,
      instructions: 'Work.',
      tools: [TOOLS['work.server']],
    });
    const t = testConversation(agent);
    const before = runs.length;
    await t.send('work');
    expect(model.requests).toHaveLength(25);
    expect(runs.length - before).toBe(25);
    expect(t.eventTypes).not.toContain('suspension');
    expect(t.text).toBe('Exceeded maximum number of rounds (25). Stopping.');
    expect(t.events.at(-1)).toMatchObject({ type: 'turn_ended', status: 'completed' });
    expect(t.snapshot.status).toBe('idle');
  });
});
