/** A conversation that was closed, or whose run was terminated, is opened again: its log continues. */

import { describe, expect, it } from 'vitest';
import { applyAll } from '../../../../src/core/apply/apply.js';
import { withoutOldest } from '../../../../src/core/context/transcript.js';
import { openingOf } from '../../../../src/core/machine/opening.js';
import type { ConversationState } from '../../../../src/core/state/state.js';
import {
  APPROVE,
  gatedCall,
  modelCalls,
  modelSays,
  plannedCall,
} from '../../../support/builders/core-builders.js';
import { closeConversation } from '../../../support/builders/verbs.js';
import { promise } from '../../../support/promise.js';
import {
  aMachine,
  aMachineWith,
  MachineUnderTest,
} from '../../../support/schedules/core-driver.js';

const CANCELLED = { ok: false, error: { code: 'cancelled', message: '[cancelled]' } };

describe('opening a closed conversation again', () => {
  it('continues its log: seq, transcript, ended calls and request ids are kept, turn ids are new', () => {
    const m = aMachine();
    const reply = m.send('one', { requestId: 'job-1' });
    m.model(modelCalls([plannedCall('c1')]))
      .tool('c1')
      .model(modelSays('done'));
    closeConversation(m.machine);
    const before = m.state;
    m.mark();
    m.reopen();
    expect(m.types()).toEqual(['conversation_started']);
    expect(m.state).toMatchObject({
      lastSeq: before.lastSeq + 1,
      startedAt: before.startedAt,
      closed: false,
      transcript: before.transcript,
      transcriptBytes: before.transcriptBytes,
      tombstones: before.tombstones,
      requests: before.requests,
      usage: before.usage,
    });
    expect(m.trySend('one', { requestId: 'job-1' })).toMatchObject({
      refusal: { code: 'duplicate', reply },
    });
    expect(m.send('two')).toMatchObject({ turnId: 'turn_chain0000002_1', seq: before.lastSeq + 2 });
    m.model(modelCalls([plannedCall('c1')]));
    expect(m.last('tool_call')).toMatchObject({
      providerCallId: 'c1',
      call: { toolCallId: 'call_turn_chain0000002_1_1_1' },
    });
  });

  it('that was too large to keep all of it says how much was dropped, and its log folds to the same', {
    ...promise('G186'),
  }, () => {
    const m = aMachine();
    for (const text of ['one', 'two', 'three']) {
      m.send(text);
      m.model(modelSays('done'));
    }
    closeConversation(m.machine);
    const before = withoutOldest(m.state, 4);
    const { seq: _seq, at: _at, ...started } = m.last('conversation_started');
    const opening = openingOf(before, { ...started, droppedMessages: 4 }, m.clock.iso());
    expect(opening.events).toMatchObject([{ reopened: true, droppedMessages: 4 }]);
    expect(opening.state.transcript).toEqual(m.state.transcript.slice(4));
    expect(applyAll([...m.events, ...opening.events])).toEqual(opening.state);
  });

  it('that was terminated in the middle of a step leaves no call without a result, and no answer unknown', () => {
    const outcome = modelCalls([
      plannedCall('s'),
      gatedCall('g'),
      plannedCall('q', { executor: 'human' }),
    ]);
    const m = aMachineWith(outcome);
    m.tool('s', 'ran');
    m.reopen();
    expect(m.state.transcript.at(-1)).toMatchObject({
      role: 'tool',
      parts: [
        { toolCallId: 's', envelope: { ok: true, result: 'ran' } },
        { toolCallId: 'g', envelope: CANCELLED },
        { toolCallId: 'q', envelope: CANCELLED },
      ],
    });
    expect(m.resolve('g', APPROVE)).toMatchObject({ verdict: 'stale', status: 'cancelled' });
    m.send('and now?');
    expect(m.effectTypes()).toEqual(['call_model']);
  });

  it('that was terminated between a message and its calls has results for all of them, too', () => {
    const m = aMachineWith(modelCalls([plannedCall('s'), plannedCall('t')]));
    const cut = m.events.findIndex((event) => event.type === 'tool_call') + 1;
    const reopened = new MachineUnderTest(m.events.slice(0, cut), m.clock).reopen();
    const { transcript }: ConversationState = reopened.state;
    expect(transcript.at(-1)).toMatchObject({
      role: 'tool',
      parts: [{ toolCallId: 's' }, { toolCallId: 't' }],
    });
  });
});
