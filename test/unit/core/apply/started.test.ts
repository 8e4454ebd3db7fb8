/** The state of a conversation that is opened again, and of a fork: which parts of the old state each keeps. */
import { describe, expect, it } from 'vitest';
import { startedState } from '../../../../src/core/apply/started.js';
import { callKey } from '../../../../src/core/state/requests.js';
import type { ConversationState } from '../../../../src/core/state/state.js';
import { NO_USAGE } from '../../../../src/core/state/usage.js';
import type { ConversationStarted } from '../../../../src/protocol/log/events.js';
import {
  conversationStarted,
  gatedCall,
  modelCalls,
  modelSays,
} from '../../../support/builders/core-builders.js';
import { aMachine } from '../../../support/schedules/core-driver.js';

const AT = '2026-05-01T00:00:00.000Z';
const ORIGIN = { conversationId: 'order-41', generation: 1, seq: 9 };

/** A conversation with nothing but a turn. */
function bare(): ConversationState {
  const m = aMachine();
  m.send('one', { requestId: 'job-1' });
  m.model(modelSays('done'));
  return { ...m.state, closed: true };
}

const child = (childId: string, more: object = {}) => ({
  ...{ childId, toolCallId: 'c', name: 'ask', agent: 'helper', turnId: 't', granted: {} },
  ...{ status: 'starting' as const, ...more },
});

/** Parts that most conversations do not have. A run keeps them when it is opened again, and a fork as well. */
const KEPT = {
  forgotten: 3,
  context: { tokens: 5 },
  forgetsCalls: true,
  plugins: { notes: {} },
  duePatches: [{ plugin: 'notes' }],
} as const;
const OF_THE_RUN = { rules: [{ ruleId: 'r' }], children: [child('one')] } as const;
const INBOX = [{ eventId: 'e-1', text: 'x', requester: { id: 'ann' } }];

const rich = (more: object = {}): ConversationState =>
  ({ ...bare(), ...KEPT, ...OF_THE_RUN, inbox: INBOX, ...more }) as unknown as ConversationState;

function started(before: ConversationState | undefined, more: Partial<ConversationStarted> = {}) {
  return startedState(before, { ...conversationStarted(), ...more, seq: 20, at: AT });
}

const fork = (before: ConversationState, more: object = {}) =>
  started(before, { origin: { ...ORIGIN, ...more } });

const OPTIONAL = [...Object.keys(KEPT), ...Object.keys(OF_THE_RUN), 'inbox', 'inboxHeld'];
const OTHERS = ['formerAgents', 'parent', 'turn'];

describe('a conversation that is opened again', () => {
  it.each(Object.entries(KEPT))('keeps its %s', (name, value) => {
    expect(started(rich())).toHaveProperty(name, value);
  });

  it('keeps its inbox, its rules and its origin, and gets its parent anew', () => {
    const parent = { conversationId: 'p' } as unknown as NonNullable<ConversationState['parent']>;
    const state = started(rich({ origin: ORIGIN, parent: { conversationId: 'old' } }), { parent });
    expect(state).toMatchObject({ inbox: INBOX, rules: OF_THE_RUN.rules, origin: ORIGIN, parent });
    expect(state).not.toHaveProperty('inboxHeld');
    expect(started(rich({ parent }))).not.toHaveProperty('parent');
  });

  it('has no part that it did not have before', () => {
    const state = started(bare());
    for (const name of [...OPTIONAL, ...OTHERS, 'origin']) expect(state).not.toHaveProperty(name);
  });

  it('begins with nothing where there is no run before it', () => {
    expect(started(undefined)).toEqual({
      ...{ tenant: 'default', conversationId: 'order-42', agent: 'support' },
      ...{ chain: conversationStarted().chain, settings: conversationStarted().settings },
      ...{ startedAt: AT, updatedAt: AT, lastSeq: 20, turnCount: 0, closed: false },
      ...{ queue: [], calls: {}, transcript: [], transcriptBytes: 0, tombstones: [], requests: [] },
      usage: NO_USAGE,
    });
  });

  it('closes the sub-agents that go with the old run, also those that may not have begun', () => {
    const children = [child('one'), child('two', { status: 'stopping' })];
    const outlives = child('three', { outlives: true });
    const { children: left } = started(rich({ children: [...children, outlives] }));
    expect(left).toEqual(children.map((one) => ({ ...one, status: 'started' })));
    expect(started(rich({ children: [outlives] }))).not.toHaveProperty('children');
  });

  it('remembers the agents that it had, apart from the one that it has now', () => {
    const former = (formerAgents: readonly string[]) => started(rich({ formerAgents }));
    expect(former(['support', 'sales'])).toHaveProperty('formerAgents', ['sales']);
    expect(former(['support'])).not.toHaveProperty('formerAgents');
  });

  it('remembers its detached calls as cancelled', () => {
    const m = aMachine();
    m.send('one');
    m.model(modelCalls([gatedCall('d', { mode: 'detach' })]));
    const { turnId } = m.state.calls['d'] ?? {};
    const { calls, tombstones } = started(m.state);
    expect(calls).toEqual({});
    expect(tombstones.at(-1)).toEqual({
      ...{ key: callKey('d'), name: 'server.tool', turnId, status: 'cancelled', at: AT },
    });
  });

  it('adds no result where its last message asks for no call', () => {
    expect(started(bare()).transcript).toEqual(bare().transcript);
    const { transcript } = bare();
    const asked = { ...bare(), transcript: transcript.slice(0, 1) };
    expect(started(asked).transcript).toEqual(asked.transcript);
  });
});

describe('a fork', () => {
  it.each(Object.entries(KEPT))('keeps the %s', (name, value) => {
    expect(fork(rich())).toHaveProperty(name, value);
  });

  it('holds the inbox until its first message, and leaves requests, rules and sub-agents', () => {
    const state = fork(rich({ parent: { conversationId: 'p' } }));
    expect(state).toMatchObject({ inbox: INBOX, inboxHeld: true, origin: ORIGIN });
    expect(state).toMatchObject({ requests: [], queue: [], usage: NO_USAGE, turnCount: 0 });
    for (const name of ['rules', 'children', 'parent']) expect(state).not.toHaveProperty(name);
  });

  it('has no part that the origin did not have', () => {
    const state = fork(bare());
    for (const name of [...OPTIONAL, ...OTHERS]) expect(state).not.toHaveProperty(name);
    expect(state.calls).toEqual({});
    expect(state.transcript).toEqual(bare().transcript);
  });

  it('counts the budgets of the turn that it continues anew, and its steps on', () => {
    const m = aMachine();
    m.send('one');
    m.model(modelCalls([gatedCall('g'), gatedCall('h')]));
    const { turn } = m.state;
    const spent = { spent: { byTool: {}, byCall: {} }, spentByChildren: 7 };
    const before = { ...m.state, turn: { ...turn, ...spent } } as ConversationState;
    const state = fork(before, { reopenedCalls: ['g'] });
    expect(state.turn).toEqual({ ...turn, startedAt: AT, usage: NO_USAGE });
    expect(Object.keys(state.calls)).toEqual(['g']);
    expect(fork(before).calls).toEqual({});
  });

  it('remembers the former agents', () => {
    expect(fork(rich({ formerAgents: ['sales', 'support'] })).formerAgents).toEqual(['sales']);
  });

  it('drops as many messages as the start says', () => {
    const before = bare();
    const state = started(before, { origin: ORIGIN, droppedMessages: 1 });
    expect(state.transcript).toEqual(before.transcript.slice(1));
  });
});
