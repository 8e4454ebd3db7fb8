/** Calls that were planned with another definition of their tool, before a first run and after one. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../../src/define/define-tool.js';
import type { AnyTool } from '../../../src/define/tool/types.js';
import type { CheckDefinitionInput } from '../../../src/protocol/calls/definitions.js';
import type { Effects, Executor } from '../../../src/protocol/calls/executors.js';
import { definitionOf } from '../../../src/tools/definition/digest.js';
import { promise } from '../../support/promise.js';
import { ARGUMENTS, INPUT_CHANGES, BEFORE as ORDER } from '../../unit/definitions/deploys.js';
import { environment, key, modelInput, setUp, toolInput } from './fixtures.js';

const BEFORE = z.object({ a: z.int() });
const RENAMED = z.object({ b: z.int().optional() });
const WIDER = z.object({ a: z.int(), note: z.string().optional() });

function toolWith(input: z.ZodType, more: object = {}): AnyTool {
  return defineTool({ name: 'work', description: 'Works.', input, ...more } as never);
}

function server(input: z.ZodType, runs: unknown[], more: object = {}): AnyTool {
  const run = (given: unknown): string => {
    runs.push(given);
    return 'done';
  };
  return toolWith(input, { run, ...more });
}

const { definition } = definitionOf(server(BEFORE, []));

function planned(effects: Effects = 'idempotent') {
  const input = toolInput({ effects });
  return { ...input, call: { ...input.call, definition } };
}

function activitiesOf(tool: AnyTool) {
  return setUp({ tools: [tool as never] }).activities;
}

describe('a run of a call that was planned with another definition', () => {
  it.each<Effects>(['none', 'idempotent', 'once'])(
    'does not start if the arguments have a new meaning (effects %s)',
    async (effects) => {
      const runs: unknown[] = [];
      const { runTool } = activitiesOf(server(RENAMED, runs, { effects }));
      const end = await environment().run(runTool, planned(effects));
      expect(end).toEqual({ changed: { definition: expect.stringMatching(/^sha256:/) as string } });
      expect(runs).toEqual([]);
    },
  );

  it('starts if the arguments mean the same', async () => {
    const runs: unknown[] = [];
    const { runTool } = activitiesOf(server(WIDER, runs));
    expect(await environment().run(runTool, planned())).toMatchObject({ envelope: { ok: true } });
    expect(runs).toEqual([{ a: 1 }]);
  });

  it('parses the raw arguments, not the parsed ones', async () => {
    const runs: unknown[] = [];
    const { runTool } = activitiesOf(server(z.object({ a: z.string().transform(Number) }), runs));
    const { call, ...rest } = planned();
    const end = await environment().run(runTool, { ...rest, call: { ...call, raw: { a: '1' } } });
    expect([end, runs]).toMatchObject([{ envelope: { ok: true } }, [{ a: 1 }]]);
  });

  it('runs as usual if the plan pins no definition', async () => {
    const runs: unknown[] = [];
    const { runTool } = activitiesOf(server(RENAMED, runs));
    expect(await environment().run(runTool, toolInput())).toMatchObject({ envelope: { ok: true } });
    expect(runs).toEqual([{ a: 1 }]);
  });

  it.each<[string, { attempt?: number }, { run?: number }]>([
    ['a second attempt', { attempt: 2 }, {}],
    ['a run after a question', {}, { run: 2 }],
  ])(
    'has an unknown outcome in %s, and does not run with the old arguments',
    promise('G216'),
    async (_what, info, more) => {
      const runs: unknown[] = [];
      const { runTool } = activitiesOf(server(RENAMED, runs));
      const end = await environment(info).run(runTool, { ...planned(), ...more });
      expect(end).toMatchObject({ envelope: { ok: false, error: { code: 'outcome_unknown' } } });
      expect(runs).toEqual([]);
    },
  );

  it('runs again in a second attempt if the arguments mean the same', async () => {
    const runs: unknown[] = [];
    const { runTool } = activitiesOf(server(WIDER, runs));
    await environment({ attempt: 2 }).run(runTool, planned());
    expect(runs).toEqual([{ a: 1 }]);
  });

  it('does not start if the tool has another executor now', async () => {
    const { runTool } = activitiesOf(toolWith(BEFORE, { executor: 'client' }));
    expect(await environment().run(runTool, planned())).toMatchObject({ changed: {} });
  });
});

describe('other functions of a tool', () => {
  it('are not called with arguments of a new meaning: reconcile', async () => {
    const asked: unknown[] = [];
    const reconcile = (given: unknown): string => {
      asked.push(given);
      return 'unknown';
    };
    const { reconcileTool } = activitiesOf(server(RENAMED, [], { effects: 'once', reconcile }));
    expect(await environment().run(reconcileTool, planned('once'))).toMatchObject({
      outcome: 'unknown',
      reason: expect.stringMatching(/had begun to run/) as string,
    });
    expect(asked).toEqual([]);
  });

  it.each(INPUT_CHANGES)(
    'are called after a lost run only with arguments that mean the same: reconcile, when $what',
    promise('G216'),
    async ({ input, runs }) => {
      const asked: unknown[] = [];
      const reconcile = (given: unknown) => {
        asked.push(given);
        return { happened: true, result: 'done' };
      };
      const once = { effects: 'once', reconcile };
      const { call, ...rest } = planned('once');
      const pinned = definitionOf(server(ORDER, [], once)).definition;
      const lost = { ...rest, call: { ...call, input: ARGUMENTS, definition: pinned } };
      const { reconcileTool } = activitiesOf(server(input, [], once));
      expect(await environment().run(reconcileTool, lost)).toMatchObject(
        runs ? { outcome: 'happened' } : { outcome: 'unknown' },
      );
      expect(asked).toEqual(runs ? [ARGUMENTS] : []);
    },
  );

  it('are not called with arguments of a new meaning: preflight', async () => {
    const asked: unknown[] = [];
    const preflight = (given: unknown): unknown => asked.push(given);
    const client = { executor: 'client', preflight };
    const pinned = definitionOf(toolWith(BEFORE, client)).definition;
    const { call, ...rest } = planned();
    const input = { ...rest, call: { ...call, definition: pinned } };
    const { preflightTool } = activitiesOf(toolWith(RENAMED, client));
    expect(await environment().run(preflightTool, input)).toMatchObject({ ok: false, changed: {} });
    expect(asked).toEqual([]);
    const same = activitiesOf(toolWith(WIDER, client));
    expect(await environment().run(same.preflightTool, input)).toMatchObject({ ok: true });
  });
});

describe('the check of a waiting call', () => {
  const { turnId, step, requester } = modelInput();
  const check = (
    tool: AnyTool | undefined,
    more: Partial<CheckDefinitionInput> = {},
    attempt = 1,
  ) => {
    const executor: Executor = 'external';
    const pinned = definitionOf(toolWith(BEFORE, { executor })).definition;
    const call = {
      toolCallId: 'call_1',
      name: 'work',
      executor,
      input: { a: 1 },
      definition: pinned,
    };
    const { activities } = setUp({ tools: tool === undefined ? [] : [tool as never] });
    const input = { ...key, agent: 'support', turnId, step, requester, call, ...more };
    return environment({ attempt }).run(activities.checkDefinition, input);
  };
  const external = (input: z.ZodType, more: object = {}) =>
    toolWith(input, { executor: 'external', ...more });

  it('reports no change, the end of the call, or its migrated form', async () => {
    expect(await check(external(BEFORE))).toEqual({ outcome: 'same' });
    expect(await check(external(WIDER))).toEqual({ outcome: 'same' });
    expect(await check(external(RENAMED))).toMatchObject({
      outcome: 'ended',
      error: { code: 'definition_changed' },
    });
    const migrate = (raw: unknown) => ({ b: (raw as { a: number }).a });
    expect(await check(external(RENAMED, { migrate }))).toMatchObject({
      outcome: 'migrated',
      call: { input: { b: 1 }, approval: { needed: false } },
    });
  });

  it('is left to other workers for a while if this worker lacks the tool or has the old one', async () => {
    const found = definitionOf(external(RENAMED)).definition;
    for (const checked of [check(undefined), check(external(BEFORE), { found })])
      await expect(checked).rejects.toMatchObject({
        type: 'definition_changed',
        nonRetryable: false,
      });
    expect(await check(external(RENAMED), { found })).toMatchObject({ outcome: 'ended' });
    expect(await check(undefined, {}, 4)).toEqual({
      outcome: 'ended',
      error: { code: 'not_available', message: 'Tool "work" no longer available' },
    });
  });

  it('gives migrate the time limit of a policy', async () => {
    const migrate = () => Promise.reject(new Error('no database'));
    expect(await check(external(RENAMED, { migrate }))).toMatchObject({
      error: { message: expect.stringMatching(/its migrate failed: no database/) as string },
    });
  });

  it('is retried if the agent is missing', async () => {
    await expect(check(external(BEFORE), { agent: 'sales' })).rejects.toMatchObject({
      type: 'unknown_agent',
      nonRetryable: false,
    });
  });
});

describe('an answer to a call that was offered with another definition', () => {
  const ask = (output: z.ZodType) => toolWith(BEFORE, { executor: 'human', output });
  const was = ask(z.object({ day: z.string().regex(/^\w+$/) }));
  const { answerDefinition = '' } = definitionOf(was);
  const about = { ...key, agent: 'support', toolCallId: 'call_1', name: 'work', answerDefinition };

  it('is left to workers with that definition, and then judged by the current one', async () => {
    const now = ask(z.object({ date: z.string() }));
    const { checkAnswer } = activitiesOf(now);
    const answer = { ...about, value: { day: 'monday' } };
    await expect(environment({ attempt: 3 }).run(checkAnswer, answer)).rejects.toMatchObject({
      type: 'definition_changed',
      nonRetryable: false,
    });
    expect(await environment({ attempt: 4 }).run(checkAnswer, answer)).toMatchObject({
      ok: false,
      problems: [{ path: '/date' }],
      offer: { definition: definitionOf(now).answerDefinition, recheckAnswer: true },
    });
    const fresh = { ...about, value: { date: 'monday' } };
    expect(await environment({ attempt: 4 }).run(checkAnswer, fresh)).toMatchObject({ ok: true });
  });

  it('is judged at once if nothing has changed', async () => {
    const { checkAnswer } = activitiesOf(was);
    expect(await environment().run(checkAnswer, { ...about, value: { day: '-' } })).toMatchObject({
      ok: false,
      problems: [{ path: '/day' }],
    });
  });
});
