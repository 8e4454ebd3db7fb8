/** Tools made at run time in a worker that did not make them: by factory, by `prepare`, or not at all. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { definePlugin, defineTool, type Plugin } from '../../../src/index.js';
import type { MadeTool } from '../../../src/protocol/calls/plan.js';
import type { Message } from '../../../src/protocol/conversation/messages.js';
import type { RunToolInput } from '../../../src/protocol/workflow/activities.js';
import { promise } from '../../support/promise.js';
import {
  answer,
  environment,
  key,
  modelInput,
  modelOf,
  setUp,
  toolInput,
} from '../tools/fixtures.js';

const requester = { id: 'ann', verified: true, channel: 'api' } as const;

function plainTool(name: string) {
  return defineTool({
    name,
    description: 'Work',
    input: z.object({ a: z.number() }),
    run: ({ a }) => `${name} ${a}`,
  });
}

/** Counts how often `prepare` runs, which adds `work` while the state of `work` is open. */
function workshop(): {
  readonly plugin: Plugin<{ readonly rate: number }>;
  readonly runs: () => number;
} {
  let runs = 0;
  const plugin = definePlugin<{ readonly rate: number }>({
    id: 'workshop',
    factories: {
      numbered: (args) => plainTool(`work${JSON.stringify(args)}`),
      refusing: () => {
        throw new Error('not these arguments');
      },
    },
    prepare: ({ state, tools, user, results }) => {
      runs += 1;
      const isOpen = state.getState('workshop') !== undefined && user.id === 'ann';
      if (isOpen && results.length === 0) tools.add(plainTool('work'));
    },
  });
  return { plugin, runs: () => runs };
}

const OPEN = {
  hash: 'h',
  base: '',
  recent: [
    {
      ...{ plugin: 'workshop', version: 1 },
      changes: [{ op: 'set' as const, path: '', value: { isOpen: true } }],
    },
  ],
};

function added(states: typeof OPEN | undefined): MadeTool {
  const at = { turnId: 'turn_1', step: 2, requester, ...(states === undefined ? {} : { states }) };
  return { ref: { plugin: 'workshop' }, at };
}

function made(over: Partial<RunToolInput> & { readonly name: string; readonly effects?: 'once' }) {
  return toolInput({ states: OPEN, ...over });
}

describe('a call of a tool that prepare has added', () => {
  it(
    'runs in another worker, where prepare runs once for all calls of the step',
    promise('G307'),
    async () => {
      const { plugin, runs } = workshop();
      const { activities } = setUp({ plugins: [plugin] });
      const input = made({ name: 'work', made: added(OPEN) });
      for (let call = 1; call <= 2; call += 1)
        expect(await environment().run(activities.runTool, input)).toMatchObject({
          envelope: { ok: true, result: 'work 1' },
        });
      expect(runs()).toBe(1);
    },
  );

  it('does not prepare again in the worker that made the model call', async () => {
    const { plugin, runs } = workshop();
    const calls = [{ id: 'call_1', name: 'work', argumentsJson: '{"a":1}' }];
    const model = modelOf(() => Promise.resolve(answer({ calls, finishReason: 'tool_calls' })));
    const { activities } = setUp({ plugins: [plugin], model });
    const { calls: planned } = await environment().run(
      activities.callModel,
      modelInput({ states: OPEN }),
    );
    expect(planned[0]?.plan).toMatchObject({ name: 'work', made: { plugin: 'workshop' } });
    const input = made({ name: 'work', made: added(OPEN) });
    expect(await environment().run(activities.runTool, input)).toMatchObject({
      envelope: { ok: true, result: 'work 1' },
    });
    expect(runs()).toBe(1);
  });

  it('is added by what prepare has: results with values for a model call, without them for one call', {
    ...promise('G307'),
  }, async () => {
    const seen: (readonly object[])[] = [];
    const plugin = definePlugin<{ readonly rate: number }>({
      id: 'workshop',
      prepare: ({ tools, results }) => {
        seen.push(results);
        if (results.length > 0) tools.add(plainTool('work'));
      },
    });
    const found = { toolCallId: 'call_0', name: 'find', ok: true, provenance: 'trusted' } as const;
    const part = { type: 'tool_result', toolCallId: 'call_0', name: 'find' } as const;
    const message: Message = {
      ...{ role: 'tool', id: 'm2', turnId: 'turn_1', step: 1 },
      parts: [{ ...part, envelope: { ok: true, result: { orders: [3] } } }],
    };
    const model = modelOf(() => Promise.resolve(answer()));
    const { activities } = setUp({ plugins: [plugin], model });
    const { transcript } = modelInput();
    await environment().run(
      activities.callModel,
      modelInput({ transcript: { ...transcript, append: [...transcript.append, message] } }),
    );
    expect(seen).toEqual([[{ ...found, result: { orders: [3] } }]]);
    const elsewhere = setUp({ plugins: [plugin] }).activities;
    const at = { turnId: 'turn_1', step: 2, requester, results: [found] };
    const input = made({ name: 'work', made: { ref: { plugin: 'workshop' }, at } });
    expect(await environment().run(elsewhere.runTool, input)).toMatchObject({
      envelope: { ok: true, result: 'work 1' },
    });
    expect(seen.at(-1)).toEqual([found]);
  });

  it('ends as no longer available where prepare adds it no more', promise('G308'), async () => {
    const { plugin } = workshop();
    const { activities } = setUp({ plugins: [plugin] });
    const input = made({ name: 'work', made: added(undefined) });
    expect(await environment().run(activities.runTool, input)).toMatchObject({
      envelope: { ok: false, error: { code: 'not_available', message: /no longer available/ } },
    });
  });

  it('is repeated when prepare fails; one that may run once ends with the reason', async () => {
    const broken = definePlugin({
      id: 'workshop',
      prepare: () => {
        throw new Error('no database');
      },
    });
    const { activities } = setUp({ plugins: [broken] });
    const again = made({ name: 'work', made: added(OPEN) });
    await expect(environment().run(activities.runTool, again)).rejects.toMatchObject({
      ...{ type: 'tool_lost', nonRetryable: false },
      message:
        'Plugin "workshop" failed in prepare for a call, so the call does not run in this attempt: no database',
    });
    const once = made({ name: 'work', effects: 'once', made: added(OPEN) });
    expect(await environment().run(activities.runTool, once)).toMatchObject({
      envelope: {
        ok: false,
        error: { code: 'not_available', message: /did not run: .*no database/ },
      },
    });
  });

  it('is planned, edited and checked in another worker', async () => {
    const { plugin } = workshop();
    const { activities } = setUp({ plugins: [plugin] });
    const at = { ...key, agent: 'support', turnId: 'turn_1', step: 2, requester };
    const tool = { made: added(OPEN) };
    const plan = await environment().run(activities.planCall, {
      ...{ ...at, ...tool },
      call: { toolCallId: 'call_1', name: 'work', argumentsJson: '{"a":1}' },
    });
    expect(plan).toMatchObject({ input: { a: 1 }, made: { plugin: 'workshop' } });
    const edited = { ...at, ...tool, toolCallId: 'call_1', name: 'work', input: { a: 2 } };
    expect(await environment().run(activities.checkEdit, edited)).toMatchObject({
      ...{ ok: true, input: { a: 2 }, definition: plan.definition },
    });
    const { executor, definition } = plan;
    const checked = {
      ...{ ...at, ...tool },
      call: { toolCallId: 'call_1', name: 'work', executor, input: { a: 1 }, definition: 'other' },
    };
    expect(definition).toMatch(/^sha256:/);
    expect(await environment().run(activities.checkDefinition, checked)).toEqual({
      outcome: 'same',
    });
  });

  it('whose answer comes from outside has it checked in another worker, or ends there', async () => {
    const asking = definePlugin({
      id: 'workshop',
      prepare: ({ state, tools }) => {
        if (state.getState('workshop') === undefined) return;
        tools.add(
          defineTool({
            name: 'ask',
            description: 'Ask',
            executor: 'human',
            input: z.object({}),
            output: z.object({ size: z.string().min(2) }),
          }),
        );
      },
    });
    const { activities } = setUp({ plugins: [asking] });
    const about = { ...key, agent: 'support', toolCallId: 'call_1', name: 'ask' };
    const check = (size: string, made: MadeTool) =>
      environment({ attempt: 4 }).run(activities.checkAnswer, { ...about, made, value: { size } });
    expect(await check('M', added(OPEN))).toMatchObject({
      ok: false,
      problems: [{ path: '/size' }],
    });
    expect(await check('XL', added(OPEN))).toEqual({ ok: true, value: { size: 'XL' } });
    const gone = {
      ...added(undefined),
      at: { ...added(undefined).at, turnId: 'turn_2' },
    } as MadeTool;
    expect(await check('XL', gone)).toMatchObject({ ended: { code: 'not_available' } });
  });

  it('gets a plan that says so when its turn comes and the tool is gone', async () => {
    const { activities } = setUp({ plugins: [workshop().plugin] });
    const plan = await environment().run(activities.planCall, {
      ...{ ...key, agent: 'support', turnId: 'turn_1', step: 2, requester },
      made: added(undefined),
      call: { toolCallId: 'call_1', name: 'work', argumentsJson: '{"a":1}' },
    });
    expect(plan.error).toMatchObject({ code: 'not_available', message: /no longer available/ });
  });
});

describe('a call of a tool that a factory has made', () => {
  it('runs in another worker, without states or prepare', promise('G307'), async () => {
    const { plugin, runs } = workshop();
    const { activities } = setUp({ plugins: [plugin] });
    const ref = { plugin: 'workshop', factory: 'numbered', args: 7 };
    const input = toolInput({ name: 'work7', made: { ref } });
    expect(await environment().run(activities.runTool, input)).toMatchObject({
      envelope: { ok: true, result: 'work7 1' },
    });
    expect(runs()).toBe(0);
  });

  it.each([
    ['the factory is gone', { plugin: 'workshop', factory: 'lost' }],
    ['the plugin is gone', { plugin: 'other', factory: 'numbered', args: 7 }],
    ['it refuses the arguments', { plugin: 'workshop', factory: 'refusing' }],
    ['it returns a tool of another name', { plugin: 'workshop', factory: 'numbered', args: 8 }],
  ])('ends as no longer available when %s', async (_, ref) => {
    const { activities } = setUp({ plugins: [workshop().plugin] });
    const input = toolInput({ name: 'work7', made: { ref } });
    expect(await environment().run(activities.runTool, input)).toMatchObject({
      envelope: { ok: false, error: { code: 'not_available', message: /no longer available/ } },
    });
  });
});
