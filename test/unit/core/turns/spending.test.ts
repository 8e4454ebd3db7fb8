/** The spending of attempts of a model call, as counted for its step, its turn and its conversation. */

import { describe, expect, it } from 'vitest';
import { foldView } from '../../../../src/core/view/view.js';
import type { AgentSettings } from '../../../../src/protocol/conversation/agents.js';
import type { FailedAttempt, ModelSpend } from '../../../../src/protocol/conversation/attempts.js';
import type { ConversationSnapshot } from '../../../../src/protocol/conversation/conversation.js';
import type { Usage } from '../../../../src/protocol/conversation/turns.js';
import type { CallModelResult } from '../../../../src/protocol/workflow/activities.js';
import {
  modelCalls,
  modelSays,
  plannedCall,
  USAGE,
} from '../../../support/builders/core-builders.js';
import { cancelTurn } from '../../../support/builders/verbs.js';
import { promise } from '../../../support/promise.js';
import { aMachine, type MachineUnderTest } from '../../../support/schedules/core-driver.js';
import { expectInvariants } from '../../../support/schedules/core-invariants.js';

const EARLIER: Usage = { inputTokens: 100, outputTokens: 20, costMicros: 7, estimated: true };
const SPENT: ModelSpend = { model: 'gpt', attempt: 3, usage: EARLIER };
const LOST = { code: 'model_unavailable', message: 'down' };

function asked(settings: Partial<AgentSettings> = {}): MachineUnderTest {
  const m = aMachine({ settings });
  m.send('hello');
  m.mark();
  return m;
}

/** The spending that readers see, folded from the log alone. */
function shown(m: MachineUnderTest): Usage | undefined {
  let view: ConversationSnapshot | undefined;
  for (const event of m.events) view = foldView(view, event);
  return view?.usage;
}

const stopped = (usage: Usage): CallModelResult => ({
  ...modelSays('Half a'),
  usage,
  finishReason: 'cancelled',
  aborted: true,
});

function stop(m: MachineUnderTest): MachineUnderTest {
  cancelTurn(m.machine, { requestId: 'stop', actor: { id: 'ann' } });
  return m;
}

interface Row {
  readonly what: string;
  readonly happens: (m: MachineUnderTest) => unknown;
  /** The fields of the `model_call` about spending; undefined: there is no such event. */
  readonly call: object | undefined;
  readonly taken: Usage;
}

const ROWS: readonly Row[] = [
  {
    what: 'an answer after attempts that were lost',
    happens: (m) => m.model({ ...modelSays('Hi'), attempt: 2, earlierUsage: EARLIER }),
    call: { attempt: 2, finishReason: 'stop', usage: USAGE, earlierUsage: EARLIER },
    taken: { inputTokens: 110, outputTokens: 23, costMicros: 7, estimated: true },
  },
  {
    what: 'an answer that has not its form, after such attempts',
    happens: (m) => m.model({ ...modelSays('Hi'), outputProblem: 'no', earlierUsage: EARLIER }),
    call: { usage: USAGE, earlierUsage: EARLIER },
    taken: { inputTokens: 110, outputTokens: 23, costMicros: 7, estimated: true },
  },
  {
    what: 'a call that failed for good',
    happens: (m) => {
      m.modelFailed(turnOf(m), LOST, { spent: SPENT });
    },
    call: { attempt: 3, model: 'gpt', finishReason: 'failed', usage: EARLIER },
    taken: EARLIER,
  },
  {
    what: 'a call that failed for good and took nothing',
    happens: (m) => {
      m.modelFailed(turnOf(m), LOST);
    },
    call: undefined,
    taken: { inputTokens: 0, outputTokens: 0 },
  },
  {
    what: 'a call that was stopped half-way, after attempts that were lost',
    happens: (m) => stop(m).model({ ...stopped(USAGE), earlierUsage: EARLIER }),
    call: { finishReason: 'cancelled', usage: USAGE, earlierUsage: EARLIER },
    taken: { inputTokens: 110, outputTokens: 23, costMicros: 7, estimated: true },
  },
  {
    what: 'a call whose worker was lost while it was to stop',
    happens: (m) => {
      stop(m).modelFailed(turnOf(m), LOST, { spent: SPENT });
    },
    call: { finishReason: 'cancelled', usage: EARLIER },
    taken: EARLIER,
  },
  {
    what: 'a call that was stopped between two attempts',
    happens: (m) => {
      stop(m).modelAborted(turnOf(m), { spent: SPENT });
    },
    call: { finishReason: 'cancelled', usage: EARLIER },
    taken: EARLIER,
  },
];

function turnOf(m: MachineUnderTest): { turnId: string; step: number } {
  const { turn } = m.state;
  if (turn === undefined) throw new Error('no turn is running');
  return turn;
}

const DOWN: FailedAttempt = {
  ...{ attempt: 1, model: 'gpt', code: 'model_unavailable', message: 'down' },
  ...{ httpStatus: 503, nextInMs: 500 },
};
const REFUSED: FailedAttempt = { ...DOWN, attempt: 2, code: 'model_unauthorized', httpStatus: 401 };

describe('attempts of a model call that failed', () => {
  it('stand with the answer that came after them, and with one that was stopped', () => {
    const failedAttempts = [DOWN];
    const m = asked();
    m.model({ ...modelSays('Hi'), attempt: 2, failedAttempts });
    expect(m.last('model_call')).toMatchObject({ attempt: 2, failedAttempts });
    const stopping = stop(asked());
    stopping.model({ ...stopped(USAGE), failedAttempts });
    expect(stopping.last('model_call')).toMatchObject({ failedAttempts });
  });

  it('stand with a call that failed for good, at any cost', promise('G102'), () => {
    const failed = [DOWN, REFUSED];
    const about = { attempt: 2, model: 'gpt', finishReason: 'failed', failedAttempts: failed };
    const m = asked();
    m.modelFailed(turnOf(m), LOST, { failed });
    const nothing = { inputTokens: 0, outputTokens: 0 };
    expect(m.last('model_call')).toMatchObject({ ...about, usage: nothing });
    expect(m.last('turn_ended').usage).toEqual(nothing);
    const paid = asked();
    paid.modelFailed(turnOf(paid), LOST, { failed, spent: { ...SPENT, attempt: 1 } });
    expect(paid.last('model_call')).toMatchObject({ ...about, usage: EARLIER });
    expectInvariants(m);
    expectInvariants(paid);
  });
});

describe("the spending of a model call's attempts", () => {
  it.each(ROWS)(
    'counts for $what, in the log, the turn and the conversation',
    promise('G11'),
    (row) => {
      const m = asked();
      row.happens(m);
      const calls = m.all('model_call');
      expect(calls).toMatchObject(row.call === undefined ? [] : [row.call]);
      expect(m.last('turn_ended').usage).toEqual(row.taken);
      expect(m.state.usage).toEqual(row.taken);
      expect(shown(m)).toEqual(row.taken);
      expectInvariants(m);
    },
  );

  it('stands in the end of a turn beside that of its other steps', () => {
    const m = asked();
    m.model(modelCalls([plannedCall('a')])).tool('a');
    m.modelFailed(turnOf(m), LOST, { spent: SPENT });
    expect(m.last('model_call')).toMatchObject({ step: 2, finishReason: 'failed' });
    expect(m.last('turn_ended').usage).toMatchObject({ inputTokens: 110, outputTokens: 23 });
  });

  it('uses up the budget of the turn', () => {
    const m = asked({ budgets: { tokens: 130 } });
    m.model({ ...modelCalls([plannedCall('a')]), earlierUsage: EARLIER }).tool('a');
    expect(m.effects()).toEqual([]);
    expect(m.last('turn_ended')).toMatchObject({ reason: 'token_budget' });
  });

  it('corrects no count of tokens: the provider has counted only the attempt with the answer', () => {
    const m = asked();
    const context = { tokens: 12, budget: 1_000, messages: 1 };
    m.model({ ...modelSays('Hi'), context, earlierUsage: EARLIER });
    expect(m.state.context).toMatchObject({ tokens: 12, inputTokens: USAGE.inputTokens });
  });
});
