/** A turn of the state is a union by its phase: the compiler's side is checked by `tsc -p test`. */
import { describe, expect, expectTypeOf, it } from 'vitest';
import { apply } from '../../../../src/core/apply/apply.js';
import { modelFailedEvents } from '../../../../src/core/events/model-calls.js';
import type {
  EndingTurn,
  ModelTurn,
  ToolsTurn,
  TurnState,
} from '../../../../src/core/state/state.js';
import type { Json } from '../../../../src/protocol/values/json.js';
import { modelCalls, modelSays, plannedCall } from '../../../support/builders/core-builders.js';
import { aMachine, aMachineWith } from '../../../support/schedules/core-driver.js';

describe('types of turns', () => {
  it('only a turn whose calls are open has calls, and only one that ends has an output', () => {
    expectTypeOf<ModelTurn['callIds']>().toEqualTypeOf<readonly []>();
    expectTypeOf<EndingTurn['callIds']>().toEqualTypeOf<readonly []>();
    expectTypeOf<ToolsTurn['callIds']>().toEqualTypeOf<readonly string[]>();
    expectTypeOf<ModelTurn['output']>().toEqualTypeOf<undefined>();
    expectTypeOf<ToolsTurn['output']>().toEqualTypeOf<undefined>();
    expectTypeOf<EndingTurn['output']>().toEqualTypeOf<Json | undefined>();
  });

  it('a change of phase that keeps the fields of the phase before does not compile', () => {
    const change = (tools: ToolsTurn, ending: EndingTurn): TurnState[] => [
      { ...tools, phase: 'model', callIds: [] },
      // @ts-expect-error the calls belong to the step that is over
      { ...tools, phase: 'model' },
      // @ts-expect-error the output belongs to the answer before
      { ...ending, phase: 'model' },
    ];
    expectTypeOf(change).toBeFunction();
  });

  it('a model call ends in a turn that has one', () => {
    expectTypeOf(modelFailedEvents).parameter(0).toEqualTypeOf<ModelTurn>();
    const narrow = (turn: TurnState): void => {
      if (turn.phase === 'model') expectTypeOf(turn).toEqualTypeOf<ModelTurn>();
    };
    expectTypeOf(narrow).toBeFunction();
  });
});

describe('a turn', () => {
  it('that goes on after an answer with an output keeps nothing of that output', () => {
    const m = aMachine();
    m.send('one');
    m.send('two', { onBusy: 'steer' });
    m.model({ ...modelSays('first'), output: { at: 1 } });
    expect(m.state.turn).toMatchObject({ phase: 'model', callIds: [] });
    expect(m.state.turn).not.toHaveProperty('output');
    m.model({ ...modelSays('second'), output: { at: 2 } });
    expect(m.last('turn_ended')).toMatchObject({ status: 'completed', output: { at: 2 } });
  });

  it('has the calls of its step while they are open, and none afterwards', () => {
    const m = aMachineWith(modelCalls([plannedCall('a'), plannedCall('b')]));
    expect(m.state.turn).toMatchObject({ phase: 'tools', callIds: ['a', 'b'] });
    m.tool('a').tool('b');
    expect(m.state.turn).toMatchObject({ phase: 'model', callIds: [] });
  });

  it('takes no call into its step while a model call is due', () => {
    const m = aMachine();
    m.send('one');
    const { lastSeq, turn } = m.state;
    const { turnId = '', step = 0 } = turn ?? {};
    const about = { seq: lastSeq + 1, at: m.clock.iso() };
    const call = plannedCall('a');
    const after = apply(m.state, { type: 'tool_call', turnId, step, call, ...about });
    expect(after.turn).toEqual(turn);
  });
});
