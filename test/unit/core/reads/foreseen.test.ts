/** The calls of an answer that a worker may run inside the model call, judged by the decisions of the core. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { wantedReads } from '../../../../src/core/decide/reads.js';
import type { PlannedCall } from '../../../../src/protocol/calls/plan.js';
import type { AgentSettings } from '../../../../src/protocol/conversation/agents.js';
import type {
  CallModelInput,
  CallModelResult,
} from '../../../../src/protocol/workflow/activities.js';
import { CORE_REVISION } from '../../../../src/protocol/workflow/revisions.js';
import {
  brokenCall,
  gatedCall,
  modelCalls,
  plannedCall,
  providerCall,
  turn,
} from '../../../support/builders/core-builders.js';
import { promise } from '../../../support/promise.js';
import { aMachine, type MachineUnderTest } from '../../../support/schedules/core-driver.js';
import {
  aRead,
  foreseen,
  foreseenFor,
  modelInputOf,
} from '../../../support/schedules/core-reads.js';

function running(settings: Partial<AgentSettings> = {}): MachineUnderTest {
  const m = aMachine({ settings });
  m.send('hello');
  return m;
}

const idsOf = (m: MachineUnderTest, outcome: CallModelResult): readonly string[] =>
  foreseen(m, outcome).map(({ plan }) => plan.toolCallId);

describe('a worker', () => {
  it('runs the reads of an answer under the ids and keys that their activities would have', () => {
    const m = running();
    const outcome = modelCalls([aRead('one'), aRead('two')]);
    const reads = foreseen(m, outcome);
    expect(reads.map(({ index, plan }) => [index, plan.toolCallId])).toEqual([
      [0, 'one'],
      [1, 'two'],
    ]);
    const key = `default/order-42/${turn(1)}.1/two/`;
    expect(reads[1]?.input).toMatchObject({
      ...{ tenant: 'default', conversationId: 'order-42', agent: 'support' },
      ...{ turnId: turn(1), step: 1, requester: { id: 'ann' } },
      call: { toolCallId: 'two', name: 'look', effects: 'none', input: { of: 'two' } },
    });
    expect(reads[1]?.input.idempotencyKey.startsWith(key)).toBe(true);
  });

  it.each<[string, PlannedCall]>([
    ['is not marked', aRead('r', { inline: undefined as never })],
    ['has effects', aRead('r', { effects: 'idempotent' })],
    ['must not run twice', aRead('r', { effects: 'once' })],
    ['is detached', aRead('r', { mode: 'detach' })],
    ['waits for an approval', aRead('r', { approval: { needed: true } })],
    ['has a task queue of its own', aRead('r', { taskQueue: 'elsewhere' })],
    ['is prepared first', aRead('r', { preflight: true })],
    ['is run by a client', aRead('r', { executor: 'client' })],
    ['cannot run', { ...brokenCall('r'), inline: true, effects: 'none' }],
    ['comes one after the other', aRead('r', { unplanned: { argumentsJson: '{}' } })],
  ])('leaves a call that %s', promise('G56'), (_why, plan) => {
    expect(idsOf(running(), modelCalls([plan]))).toEqual([]);
  });

  it('runs reads beside pending calls, and beside calls that cannot run', {
    ...promise('G57'),
  }, () => {
    const waits = [
      gatedCall('gate'),
      plannedCall('form', { executor: 'human' }),
      plannedCall('page', { executor: 'client' }),
      plannedCall('peer', { executor: 'external' }),
      brokenCall('none'),
    ];
    expect(idsOf(running(), modelCalls([...waits, aRead('r')]))).toEqual(['r']);
  });

  it.each<[string, PlannedCall]>([
    ['a tool that runs as an activity', plannedCall('work')],
    ['a detached tool', plannedCall('work', { mode: 'detach' })],
  ])(
    'delays other work for a moment only: beside %s its reads have less time',
    promise('G57'),
    (_what, other) => {
      const [alone] = foreseen(running(), modelCalls([aRead('r')]));
      const [beside] = foreseen(running(), modelCalls([aRead('r'), other]));
      expect([alone?.withinMs, beside?.withinMs]).toEqual([500, 50]);
    },
  );

  it('runs none beside a request that its tool shapes in a preflight', () => {
    const shaped = plannedCall('p', { executor: 'client', preflight: true });
    expect(idsOf(running(), modelCalls([aRead('r'), shaped]))).toEqual([]);
  });

  it('runs none where calls run one after the other', () => {
    const m = running({ toolExecution: 'sequential' });
    expect(modelInputOf(m)).not.toHaveProperty('reads');
    expect(idsOf(m, modelCalls([aRead('r')]))).toEqual([]);
    expect(wantedReads(m.model(modelCalls([aRead('r')])).state)).toEqual([]);
  });

  it('runs none in an answer whose provider has run tools', () => {
    const outcome = { ...modelCalls([aRead('r')]), providerCalls: [providerCall('ws_1')] };
    expect(idsOf(running(), outcome)).toEqual([]);
  });

  it('runs none where the workflow does not send the facts to judge them by', () => {
    const m = running();
    const { reads: _none, ...input } = modelInputOf(m);
    expect(input).not.toHaveProperty('reads');
  });
});

describe('a bound is checked before the read:', () => {
  const lookups = (...ids: string[]) => ids.map((id) => aRead(id, { input: { of: 'it' } }));

  it.each<[string, Partial<AgentSettings>]>([
    ['calls in all', { budgets: { calls: 3 } }],
    ['calls of the tool', { budgets: { callsOf: { look: 3 } } }],
  ])('%s, those of earlier steps included', (_what, settings) => {
    const m = running(settings);
    m.model(modelCalls([aRead('a', { input: 1 }), aRead('b', { input: 2 })]));
    m.tool('a').tool('b');
    const reads = ['c', 'd'].map((id, index) => aRead(id, { input: 3 + index }));
    expect(idsOf(m, modelCalls(reads))).toEqual(['c']);
  });

  it('repetitions, those of earlier steps included', () => {
    const m = running({ repeatLimit: 3 });
    m.model(modelCalls(lookups('a'))).tool('a');
    expect(idsOf(m, modelCalls(lookups('b', 'c')))).toEqual(['b']);
  });

  it('none of the calls that the agent no longer bounds', () => {
    const m = running();
    m.model(modelCalls(lookups('a', 'b')))
      .tool('a')
      .tool('b');
    expect(idsOf(m, modelCalls(lookups('c', 'd')))).toEqual(['c', 'd']);
  });

  it('tokens and cost bound model calls: the calls of the last answer run, wherever they run', () => {
    const m = running({ budgets: { tokens: 1, cost: { micros: 1, currency: 'EUR' } } });
    expect(idsOf(m, modelCalls(lookups('a')))).toEqual(['a']);
    m.model(modelCalls(lookups('a')));
    expect(m.effectTypes()).toEqual(['run_tool']);
  });

  it('a tool that the agent does not have ends the turn where the agent wants that', () => {
    const outcome = modelCalls([brokenCall('none', 'unknown_tool'), aRead('r')]);
    expect(idsOf(running({ onUnknownTool: 'abort_turn' }), outcome)).toEqual([]);
    expect(idsOf(running(), outcome)).toEqual(['r']);
    const faulty = modelCalls([brokenCall('none', 'invalid_input'), aRead('r')]);
    expect(idsOf(running({ onToolError: 'abort_turn' }), faulty)).toEqual([]);
  });

  it('a turn that has made too many different calls to list has its reads run as activities', () => {
    const m = running({ repeatLimit: 3, maxSteps: 100 });
    for (let step = 0; step < 40; step += 1) {
      const ids = ['a', 'b', 'c', 'd', 'e', 'f'].map((id) => `${id}${step}`);
      const digest = (id: string) => `sha256:${id.padStart(64, '0')}`;
      m.model(modelCalls(ids.map((id) => aRead(id, { argsDigest: digest(id) }))));
      for (const id of ids) m.tool(id);
    }
    expect(modelInputOf(m)).not.toHaveProperty('reads');
    expect(idsOf(m, modelCalls([aRead('last')]))).toEqual([]);
  });

  it('costs the input of a model call next to nothing where nothing is bounded', () => {
    expect(modelInputOf(running()).reads).toEqual({ coreRevision: CORE_REVISION });
  });
});

describe('ids of reads', () => {
  it('are those that the workflow gives: one that an earlier call has is replaced', () => {
    const m = running();
    m.model(modelCalls([aRead('call_0')])).tool('call_0');
    const minted = `call_${turn(1)}_2_1`;
    expect(idsOf(m, modelCalls([aRead('call_0')]))).toEqual([minted]);
    m.model(modelCalls([aRead('call_0')]));
    expect(wantedReads(m.state).map(({ plan }) => plan.toolCallId)).toEqual([minted]);
  });

  it('that are short are not trusted where the worker does not have every message', () => {
    const m = running();
    const outcome = modelCalls([aRead('call_0'), aRead('call_that_is_long_enough')]);
    const cut = { ...modelInputOf(m), transcript: { epoch: 4, base: 0, append: [] } };
    const { transcript } = m.state;
    expect(transcript).not.toEqual([]);
    expect(cut.reads).toBeDefined();
    const ids = (input: CallModelInput) =>
      foreseenFor(input, outcome).map(({ plan }) => plan.toolCallId);
    expect(ids(cut)).toEqual(['call_that_is_long_enough']);
    const forgets = {
      ...modelInputOf(m),
      reads: { coreRevision: CORE_REVISION, forgetsCalls: true as const },
    };
    expect(ids(forgets)).toEqual(['call_that_is_long_enough']);
  });
});

const anyCall = fc.oneof(
  fc.constantFrom<(id: string) => PlannedCall>(
    (id) => aRead(id),
    (id) => aRead(id, { input: { of: 'it' } }),
    (id) => aRead(id, { mode: 'detach' }),
    (id) => gatedCall(id, { inline: true, effects: 'none' }),
    (id) => plannedCall(id, { executor: 'human' }),
    (id) => plannedCall(id),
    (id) => brokenCall(id),
  ),
);
const anySettings = fc.record(
  {
    budgets: fc.record({ calls: fc.integer({ min: 1, max: 6 }) }),
    repeatLimit: fc.integer({ min: 2, max: 3 }),
    onToolError: fc.constant('abort_turn' as const),
    onUnknownTool: fc.constant('abort_turn' as const),
    toolExecution: fc.constant('sequential' as const),
  },
  { requiredKeys: [] },
);

describe('for any calls that the model asks for', () => {
  it('the workflow takes every read that a worker runs, and no other result', {
    ...promise('G56'),
  }, () => {
    const steps = fc.array(fc.array(anyCall, { minLength: 1, maxLength: 5 }), { maxLength: 3 });
    fc.assert(
      fc.property(anySettings, steps, (settings, answers) => {
        const m = running(settings);
        for (const [step, calls] of answers.entries()) {
          if (m.state.turn?.phase !== 'model') return;
          const outcome = modelCalls(calls.map((call, index) => call(`call_${step}_${index}`)));
          const ran = idsOf(m, outcome);
          m.model(outcome);
          const wanted = wantedReads(m.state).map(({ plan }) => plan.toolCallId);
          expect(ran).toEqual(wanted);
          for (const id of Object.keys(m.state.calls)) m.tool(id);
        }
      }),
      { numRuns: 500 },
    );
  });
});
