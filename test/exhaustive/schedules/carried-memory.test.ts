/**
 * The memory of a conversation gives the same replies as if its run had never ended, and is small at any length of the
 * conversation.
 */

import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromCarryOver, toCarryOver } from '../../../src/core/context/carry-over.js';
import { judgeCancel } from '../../../src/core/judge/cancels.js';
import { takenCallIds } from '../../../src/core/memory/memory.js';
import type { ConversationState } from '../../../src/core/state/state.js';
import { toolCallView } from '../../../src/core/view/snapshot.js';
import type { Resolution } from '../../../src/protocol/calls/resolutions.js';
import type { CarriedMemory } from '../../../src/protocol/conversation/offloaded-messages.js';
import { MAX_TOMBSTONE_BYTES } from '../../../src/protocol/limits/limits.js';
import type { CanonicalEvent } from '../../../src/protocol/log/events.js';
import {
  APPROVE,
  actor,
  answer,
  DENY,
  gatedCall,
  modelCalls,
  modelSays,
  plannedCall,
  result,
} from '../../support/builders/core-builders.js';
import {
  judgeIn,
  judgeInbox,
  resolveBySignal,
  sendMessageBySignal,
  takeInboxEvent,
  takeInboxSignal,
} from '../../support/builders/verbs.js';
import { patient } from '../../support/patience.js';
import { promise } from '../../support/promise.js';
import {
  aMachine,
  aMachineWith,
  type MachineUnderTest,
} from '../../support/schedules/core-driver.js';
import { ScheduleRunner, type Step, schedule } from '../../support/schedules/core-schedules.js';

const SHA_256 = `sha256:${'0123456789abcdef'.repeat(4)}`;

const RESOLUTIONS: readonly Resolution[] = [APPROVE, DENY, answer(1), result(1)];

/** The next run's state. */
function carried(state: ConversationState): ConversationState {
  return fromCarryOver(JSON.parse(JSON.stringify(toCarryOver(state))) as CarriedMemory);
}

/** Plays the steps, and ends the run after every third; without `carries` the ends are recorded, and the run goes on. */
function played(steps: readonly Step[], carries: boolean): MachineUnderTest {
  const runner = new ScheduleRunner(steps.length);
  const { m } = runner;
  if (!carries)
    m.rollOver = () => {
      m.machine.rolledOver('requested');
      return m;
    };
  for (const [index, step] of steps.entries()) {
    runner.run(step);
    if (index % 3 === 2 && !m.state.closed) m.rollOver();
  }
  return m;
}

function idsIn(events: readonly CanonicalEvent[], name: string): readonly string[] {
  const found = events.flatMap((event) => {
    const value = (event as unknown as Readonly<Record<string, unknown>>)[name];
    return typeof value === 'string' ? [value] : [];
  });
  return [...new Set(found)];
}

/** The replies to every request that the conversation may remember, except first acceptances. */
function repliesOf(state: ConversationState, m: MachineUnderTest): unknown {
  const { events } = m;
  const at = { state, nowMs: m.clock.now() };
  const callIds = [...idsIn(events, 'toolCallId'), 'nobody', '__proto__'];
  const requestIds = [...idsIn(events, 'requestId'), 'never-used'];
  const turnIds = idsIn(events, 'turnId');
  const asked = callIds.flatMap((toolCallId) =>
    requestIds.map((requestId) => ({ toolCallId, requestId })),
  );
  return {
    views: callIds.map((toolCallId) => toolCallView(state, toolCallId)),
    taken: [...takenCallIds(state, callIds)].sort(),
    resolutions: asked.flatMap((of) =>
      RESOLUTIONS.map((resolution) =>
        judgeIn(at, 'resolveToolCall', { ...of, resolution, actor: actor('user-1') }),
      ),
    ),
    claims: asked.flatMap((of) =>
      ['user-0', 'user-1', 'user-2'].map((id) =>
        judgeIn(at, 'claimToolCall', { ...of, actor: actor(id) }),
      ),
    ),
    extensions: asked.map((of) =>
      judgeIn(at, 'extendToolCall', { ...of, by: 60_000, actor: actor('user-1') }),
    ),
    messages: requestIds.flatMap((requestId) =>
      ['text 0', 'text 7'].map((text) => judgeIn(at, 'sendMessage', { text, requestId })),
    ),
    inbox: Array.from({ length: 9 }, (_, index) =>
      [0, 1, 2].map((payload) =>
        judgeIn(at, 'inboxEvent', { eventId: `e${index}`, kind: 'news', payload }),
      ),
    ),
    cancels: requestIds.map((requestId) => judgeCancel(state, { requestId, turnId: 'none' })),
    batches: turnIds.map((turnId) =>
      judgeIn(at, 'resolveBatch', { stepId: `${turnId}.1`, results: [], actor: actor('ann') }),
    ),
  };
}

describe('the memory of a conversation', () => {
  it('gives the same replies after a roll-over, after any inputs, and after the next roll-over', {
    ...promise('G202'),
    timeout: patient(120_000),
  }, () => {
    fc.assert(
      fc.property(schedule, (steps) => {
        const runner = new ScheduleRunner(steps.length);
        for (const step of steps) runner.run(step);
        const { m } = runner;
        const before = repliesOf(m.state, m);
        const next = carried(m.state);
        expect(repliesOf(next, m)).toEqual(before);
        expect(repliesOf(carried(next), m)).toEqual(before);
      }),
      { numRuns: 150 },
    );
  });

  it('makes a conversation of many runs record and reply what one of a single run does', {
    ...promise('G202'),
    timeout: patient(120_000),
  }, () => {
    fc.assert(
      fc.property(schedule, (steps) => {
        const many = played(steps, true);
        const one = played(steps, false);
        expect(many.events).toEqual(one.events);
        expect(repliesOf(many.state, many)).toEqual(repliesOf(one.state, one));
      }),
      { numRuns: 150 },
    );
  });

  it('forgets an answer that is reverted after a roll-over, so that the request may come again', () => {
    const m = aMachine();
    m.send('go');
    m.model(modelCalls([plannedCall('q', { executor: 'human', recheckAnswer: true })]));
    m.resolve('q', answer('wrong'), { requestId: 'one' });
    m.rollOver();
    m.checkFails('q');
    m.rollOver();
    expect(m.resolve('q', answer('right'), { requestId: 'one' }).verdict).toBe('accepted');
  });

  it('knows who answered, when and how over any number of runs', promise('G202'), () => {
    const m = aMachine();
    m.send('go', { requestId: 'job' });
    m.model(modelCalls([gatedCall('c'), plannedCall('d')]));
    m.tool('d');
    m.resolve('c', DENY, { requestId: 'no' });
    for (let run = 0; run < 3; run += 1) {
      m.rollOver();
      expect(m.trySend('go', { requestId: 'job' })).toMatchObject({
        refusal: { code: 'duplicate' },
      });
      expect(m.resolve('c', DENY, { requestId: 'no' })).toMatchObject({ verdict: 'duplicate' });
      expect(m.resolve('c', APPROVE)).toMatchObject({
        verdict: 'stale',
        status: 'denied',
        by: 'ben',
      });
      expect(m.resolve('d', APPROVE)).toMatchObject({ verdict: 'stale', status: 'resolved' });
    }
  });

  it('compares the digest of the arguments that an answer was meant for, where a repeat has one', () => {
    const m = aMachineWith(modelCalls([gatedCall('c', { argsDigest: SHA_256 })]));
    expect(m.resolve('c', DENY, { requestId: 'no', argsDigest: SHA_256 }).verdict).toBe('accepted');
    m.rollOver();
    for (const [argsDigest, verdict] of [
      [SHA_256, 'duplicate'],
      [undefined, 'duplicate'],
      [SHA_256.replace('5', '6'), 'invalid'],
      ['', 'invalid'],
    ] as const)
      expect(m.resolve('c', DENY, { requestId: 'no', argsDigest }).verdict).toBe(verdict);
  });

  it('recognises after a roll-over what is sent again as a signal by hand, and records nothing', {
    ...promise('G202'),
  }, () => {
    const message = { text: 'go', requestId: 'job' };
    const approval = { toolCallId: 'c', resolution: APPROVE, actor: { id: 'ops' } };
    const event = { eventId: 'e', kind: 'news', payload: 1 };
    const m = aMachine();
    sendMessageBySignal(m.machine, message);
    m.model(modelCalls([gatedCall('c')]));
    resolveBySignal(m.machine, approval);
    takeInboxSignal(m.machine, event);
    for (let run = 0; run < 2; run += 1) {
      m.rollOver();
      m.mark();
      sendMessageBySignal(m.machine, message);
      expect(resolveBySignal(m.machine, approval)).toMatchObject({ verdict: 'duplicate' });
      takeInboxSignal(m.machine, event);
      expect(m.types()).toEqual([]);
    }
  });

  it('distinguishes other content under a known id from a repeat', () => {
    const m = aMachine();
    m.send('first', { requestId: 'job' });
    m.model(modelSays('done'));
    takeInboxEvent(m.machine, { eventId: 'e', kind: 'news', payload: 1 });
    m.rollOver();
    expect(m.trySend('other', { requestId: 'job' })).toMatchObject({
      accepted: false,
      refusal: { code: 'invalid_request' },
    });
    expect(judgeInbox(m.machine, { eventId: 'e', kind: 'news', payload: 2 })?.code).toBe(
      'invalid_request',
    );
    expect(judgeInbox(m.machine, { eventId: 'e', kind: 'news', payload: 1 })?.code).toBe(
      'duplicate',
    );
  });
});

/** As random as ids are, and the same in every run. */
function idOf(what: string): string {
  return createHash('sha256').update(what).digest('base64url').slice(0, 24);
}

/** A turn of two tools, and in every tenth a call that needs an approval; the run ends every 40 turns. */
function longConversation(turns: number): MachineUnderTest {
  const m = aMachine();
  for (let turn = 1; turn <= turns; turn += 1) {
    m.clock.advance(37_123 * (1 + (turn % 7)));
    m.send(`message ${turn}`, { requestId: idOf(`message ${turn}`) });
    const ids = [1, 2].map((call) => `call_${idOf(`${turn} ${call}`)}`);
    const gated = turn % 10 === 0 ? [gatedCall(`call_${idOf(`gated ${turn}`)}`)] : [];
    m.model(modelCalls([...ids.map((id) => plannedCall(id)), ...gated]));
    m.clock.advance(500);
    for (const id of ids) m.tool(id);
    for (const { toolCallId } of gated) {
      m.resolve(toolCallId, APPROVE, { requestId: idOf(`approve ${turn}`) });
      m.tool(toolCallId);
    }
    m.model(modelSays('done'));
    if (turn % 40 === 0) m.rollOver();
  }
  return m;
}

/** The memory that a roll-over carries, as JSON. */
function memoryIn({ tombstones, requests }: ConversationState): string {
  return JSON.stringify({ tombstones, requests });
}

describe('a conversation of a thousand turns', () => {
  it('carries less than 256 KB of memory, 40 KB compressed, and has forgotten no message', {
    ...promise('G202'),
  }, () => {
    const m = longConversation(1_000);
    const text = memoryIn(m.state);
    expect([m.state.tombstones.length, m.state.requests.length]).toEqual([1_000, 1_000]);
    expect(text.length).toBeLessThan(256 * 1024);
    expect(deflateSync(text).length).toBeLessThan(40 * 1024);
    const first = m.all('user_message').at(-900);
    expect(
      judgeIn(m, 'sendMessage', { text: 'message 101', requestId: idOf('message 101') }),
    ).toMatchObject({
      code: 'duplicate',
      reply: { turnId: first?.turnId, seq: first?.seq },
    });
    expect(m.resolve(`call_${idOf('900 1')}`, APPROVE)).toMatchObject({ verdict: 'stale' });
  });

  it('carries no more after another thousand', {
    ...promise('G202'),
    timeout: patient(120_000),
  }, () => {
    const sizes = [1_000, 2_000].map((turns) => memoryIn(longConversation(turns).state).length);
    expect(Math.abs((sizes[1] ?? 0) / (sizes[0] ?? 1) - 1)).toBeLessThan(0.1);
  });
});

/** A thousand calls, each denied under a request id, and by an actor with an id, that begin with this text. */
function withLongNames(text: string): MachineUnderTest {
  const m = aMachine({ settings: { maxSteps: 500 } });
  m.send('go');
  for (let step = 0; step < 250; step += 1) {
    const ids = [1, 2, 3, 4].map((call) => `c${step * 4 + call}`);
    m.model(modelCalls(ids.map((id) => gatedCall(id))));
    for (const id of ids)
      m.resolve(id, DENY, { requestId: `${text}${id}`, actor: actor(`${text}${id}`) });
  }
  return m;
}

describe('a memory with very long names', () => {
  it('keeps a thousand calls and requests while the names are ASCII', promise('G202'), () => {
    const m = withLongNames('x'.repeat(195));
    const { tombstones, requests } = m.state;
    m.rollOver();
    expect(m.state).toMatchObject({ tombstones, requests });
    expect(m.state.forgetsCalls).toBeUndefined();
  });

  it('forgets the oldest calls where those of people alone are too large, and then takes no short id for new', {
    ...promise('G202'),
  }, () => {
    const name = 'ä'.repeat(195);
    const m = withLongNames(name);
    m.rollOver();
    const bytes = Buffer.byteLength(JSON.stringify(m.state.tombstones));
    expect(bytes).toBeLessThanOrEqual(MAX_TOMBSTONE_BYTES + 1);
    expect(bytes).toBeGreaterThan(0.99 * MAX_TOMBSTONE_BYTES);
    expect(m.resolve('c1000', APPROVE)).toMatchObject({ verdict: 'stale', status: 'denied' });
    expect(m.resolve('c1', APPROVE)).toMatchObject({ verdict: 'unknown' });
    expect(m.resolve('c1000', DENY, { requestId: `${name}c1000` }).verdict).toBe('duplicate');
    m.model(modelCalls([plannedCall('c1')]));
    expect(m.last('tool_call').providerCallId).toBe('c1');
  });
});
