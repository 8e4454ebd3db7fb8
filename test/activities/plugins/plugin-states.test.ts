/** States of plugins on a worker: remembered, completed by the patches that were sent along, or asked of the run. */
import { ApplicationFailure } from '@temporalio/common';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { RememberedStates } from '../../../src/activities/shared/plugin-states.js';
import { atModelCall, judgePatch, statesNow, statesRef } from '../../../src/core/plugins/states.js';
import type { PluginMemory } from '../../../src/core/state/plugins.js';
import { definePlugin, defineTool } from '../../../src/index.js';
import type { StatesNow } from '../../../src/protocol/calls/plugin-state.js';
import { CORE_REVISION } from '../../../src/protocol/workflow/revisions.js';
import { promise } from '../../support/promise.js';
import { answer, environment, modelInput, modelOf, setUp, toolInput } from '../tools/fixtures.js';

const RUN = { workflowId: 'conversation:default:c', runId: 'r' };

/** A workflow's states, and a worker that asks for them. */
class Talk {
  memory: PluginMemory | undefined;
  asked = 0;
  worker = this.aWorker();

  aWorker(maxBytes = 1_000_000): RememberedStates {
    const fetch = (): Promise<StatesNow> => {
      this.asked += 1;
      return Promise.resolve(statesNow(this.#state));
    };
    return new RememberedStates({ fetch, maxBytes });
  }

  patch(bytes: number): void {
    const value = 'x'.repeat(bytes);
    const changes = [{ op: 'append', path: '/l', values: [value] }] as const;
    const judged = judgePatch(this.memory, { plugin: 'p', version: 1, changes });
    if ('memory' in judged) this.memory = judged.memory;
  }

  /** The states of a model call, which is then recorded, or of a tool. */
  async sees(by: 'model' | 'tool'): Promise<unknown> {
    const { states: ref } = statesRef(this.#state, by === 'model' ? 'calledBefore' : 'called');
    const seen = await this.worker.statesOf(RUN, ref);
    if (by === 'model') this.memory = atModelCall(this.memory).plugins ?? this.memory;
    return seen;
  }

  get #state(): { readonly plugins?: PluginMemory; readonly lastSeq: number } {
    return { ...(this.memory === undefined ? {} : { plugins: this.memory }), lastSeq: 1 };
  }
}

describe('a worker', () => {
  it('that makes all model calls knows the states of each run of code without asking', async () => {
    const action = fc.constantFrom('patch', 'model', 'tool');
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 30 }), async (actions) => {
        const talk = new Talk();
        await talk.sees('model');
        for (const each of ['model', ...actions] as const)
          if (each === 'patch') talk.patch(10);
          else expect(await talk.sees(each)).toEqual(talk.memory?.states ?? {});
        expect(talk.asked).toBe(0);
      }),
    );
  });

  it('that knows nothing, or has forgotten, asks the run, and remembers the answer', async () => {
    const talk = new Talk();
    for (const by of ['model', 'model', 'model'] as const) {
      talk.patch(10);
      await talk.sees(by);
    }
    talk.worker = talk.aWorker();
    expect(await talk.sees('tool')).toEqual(talk.memory?.states);
    expect(await talk.sees('tool')).toEqual(talk.memory?.states);
    expect(talk.asked).toBe(1);
  });

  it('asks once when more was changed than is sent along', async () => {
    const talk = new Talk();
    talk.patch(10);
    await talk.sees('model');
    for (let each = 0; each < 5; each += 1) talk.patch(6_000);
    expect(await talk.sees('model')).toEqual(talk.memory?.states);
    expect(talk.asked).toBe(1);
  });
});

const counter = definePlugin({
  id: 'counter',
  state: z.object({ count: z.number().default(0) }),
  prepare: ({ state }) => {
    state.patchState(counter, { op: 'increment', path: '/count', by: 1 });
  },
  tools: (self) => [
    defineTool({
      name: 'counter.read',
      description: 'Read',
      input: z.object({}),
      effects: 'none',
      inline: true,
      run: (_, ctx) => ctx.getState(self),
    }),
    defineTool({
      name: 'counter.add',
      description: 'Add',
      input: z.object({}),
      run: (_, ctx) => {
        ctx.patchState(self, { op: 'increment', path: '/count', by: 1 });
        return null;
      },
    }),
  ],
});
const REF = { hash: 'h', base: '', recent: [patchOf(41)] };

function patchOf(count: number) {
  return {
    ...{ plugin: 'counter', version: 1 },
    changes: [{ op: 'set' as const, path: '/count', value: count }],
  };
}

describe('a model call of an agent with plugins', () => {
  it('returns the changes of prepare, which reads inside it see', async () => {
    const calls = [{ id: 'call_1', name: 'counter.read', argumentsJson: '{}' }];
    const model = modelOf(() => Promise.resolve(answer({ calls, finishReason: 'tool_calls' })));
    const { activities } = setUp({ model, plugins: [counter] });
    const result = await environment().run(
      activities.callModel,
      modelInput({ states: REF, reads: { coreRevision: CORE_REVISION } }),
    );
    expect(result.patches).toEqual([
      {
        ...{ plugin: 'counter', version: 1 },
        changes: [{ op: 'increment', path: '/count', by: 1 }],
      },
    ]);
    expect(result.calls[0]?.read?.ended.envelope).toEqual({ ok: true, result: { count: 42 } });
  });

  it(
    'fails before the model is called when prepare fails, and is repeated',
    promise('G305'),
    async () => {
      let isCalled = false;
      const model = modelOf(() => {
        isCalled = true;
        return Promise.resolve(answer());
      });
      const broken = definePlugin({
        id: 'broken',
        prepare: () => {
          throw new Error('no database');
        },
      });
      const { activities } = setUp({ model, plugins: [broken] });
      const failure: unknown = await environment()
        .run(activities.callModel, modelInput())
        .catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(ApplicationFailure);
      expect(failure).toMatchObject({
        ...{ type: 'plugin_failed', nonRetryable: false },
        message:
          'Plugin "broken" failed in prepare, so the turn fails after the last attempt of its model call: no database',
      });
      expect(isCalled).toBe(false);
    },
  );
});

describe('a tool that may need states', () => {
  const unknown = { hash: 'x', base: 'y', recent: [] };

  it('reads and changes them', async () => {
    const { activities } = setUp({ plugins: [counter] });
    const add = toolInput({ name: 'counter.add', states: REF });
    expect(await environment().run(activities.runTool, add)).toMatchObject({
      envelope: { ok: true },
      patches: [{ plugin: 'counter', changes: [{ op: 'increment', by: 1 }] }],
    });
  });

  it('does not run without them: a call that may run once ends with an error, another is repeated', async () => {
    const { activities } = setUp({ plugins: [counter] });
    const once = toolInput({ name: 'counter.add', effects: 'once', states: unknown });
    expect(await environment().run(activities.runTool, once)).toMatchObject({
      envelope: { ok: false, error: { code: 'not_available', message: /cannot be read now/ } },
    });
    const again = toolInput({ name: 'counter.add', states: unknown });
    await expect(environment().run(activities.runTool, again)).rejects.toMatchObject({
      type: 'tool_lost',
      nonRetryable: false,
    });
  });
});

describe('a policy', promise('G337'), () => {
  const gated = defineTool({
    name: 'gated',
    description: 'Gated',
    input: z.object({}),
    approval: (_input, { getState }) => ({
      ask: { reason: `at ${String(getState(counter).count)}` },
    }),
    run: () => null,
  });
  const requester = { id: 'ann', verified: true, channel: 'api' } as const;
  const at = { tenant: 'default', conversationId: 'c-1', agent: 'support', turnId: 't', step: 1 };
  const step = { ...at, requester };

  it('of a call, an edit or a changed definition reads the states that were sent along', async () => {
    const { activities } = setUp({ tools: [gated], plugins: [counter] });
    const asked = { approval: { needed: true, reason: 'at 41' } };
    const call = { toolCallId: 'call_1', name: 'gated', argumentsJson: '{}' };
    const planned = { ...step, states: REF, call };
    expect(await environment().run(activities.planCall, planned)).toMatchObject(asked);
    const edit = { ...step, states: REF, toolCallId: 'call_1', name: 'gated', input: {} };
    expect(await environment().run(activities.checkEdit, edit)).toMatchObject(asked);
    const none = { ...step, call };
    expect(await environment().run(activities.planCall, none)).toMatchObject({
      approval: { reason: 'at 0' },
    });
  });

  it('reads what prepare has changed in the same model call', async () => {
    const calls = [{ id: 'call_1', name: 'gated', argumentsJson: '{}' }];
    const model = modelOf(() => Promise.resolve(answer({ calls, finishReason: 'tool_calls' })));
    const { activities } = setUp({ model, tools: [gated], plugins: [counter] });
    const result = await environment().run(activities.callModel, modelInput({ states: REF }));
    expect(result.calls[0]?.plan.approval).toMatchObject({ reason: 'at 42' });
  });

  it('does not decide without the states: the check is repeated', async () => {
    const { activities } = setUp({ tools: [gated], plugins: [counter] });
    const states = { hash: 'x', base: 'y', recent: [] };
    const edit = { ...step, states, toolCallId: 'call_1', name: 'gated', input: {} };
    const check = environment().run(activities.checkEdit, edit);
    await expect(check).rejects.toThrow('cannot query runs');
  });
});
