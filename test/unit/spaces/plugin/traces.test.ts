/** The traces of the Hsafa gateway inside a space, step for step: the cycles, and what the space shows at each step. */
import { expect, it } from 'vitest';
import { hsafaTools } from '../../../../src/compat/hsafa/index.js';
import { toolEventOf } from '../../../../src/protocol/spaces/tool-events.js';
import { calls, callsAll, says } from '../../../../src/testing/index.js';
import { promise } from '../../../support/promise.js';
import { DESK } from '../../../support/spaces/room-of-agent.js';
import { storedRoom } from '../../../support/spaces/stored-room.js';

const ENTER = { name: 'enter_space', input: { spaceId: DESK } };
const inputSchema = { type: 'object' };
const confirmAction = {
  ...{ name: 'confirmAction', description: 'Confirm', inputSchema },
  ...{ executionType: 'space', visible: true, isAsync: true },
};
const bookHotel = {
  ...{ name: 'bookHotel', description: 'Book', inputSchema, executionType: 'internal' },
  visible: false,
};
const fetchExternalData = {
  ...{ name: 'fetchExternalData', description: 'Fetch', inputSchema },
  ...{ executionType: 'external', visible: true, isAsync: false, timeout: 10_000 },
};

type Room = Awaited<ReturnType<typeof storedRoom>>;

/** The event of each state that the space has shown, in order. */
const shownIn = ({ shown }: Room): readonly string[] =>
  shown.map((message) => `${toolEventOf(message)?.type ?? ''} ${message.status}`);

const turnsIn = ({ t }: Room) => t.events.filter(({ type }) => type === 'turn_ended').length;

it(
  'async: pending at once, the cycle ends; the answer is in the inbox of the next one',
  promise('H36', 'H53', 'S26', '2.H.1'),
  async () => {
    const { tools } = hsafaTools([confirmAction, bookHotel]);
    const room = await storedRoom(
      tools,
      callsAll([ENTER, { name: 'confirmAction', input: { message: 'Confirm booking?' } }]),
      says('Asked Husam to confirm. Moving on to other tasks.'),
      calls('bookHotel', { city: 'Tokyo' }),
      says('Booked.'),
    );
    const { t, store, messages } = room;
    await t.send('Book a hotel in Tokyo');
    await store();
    const [pending] = t.pending;
    const asked = t.events.findLast(({ type }) => type === 'tool_result');
    expect(asked).toMatchObject({
      name: 'confirmAction',
      result: {
        envelope: { result: { status: 'pending', pendingToolCallId: pending?.toolCallId } },
      },
    });
    expect(turnsIn(room)).toBe(1);
    expect(shownIn(room)).toEqual(['tool.started running', 'tool.started requires_action']);
    await t.answer('confirmAction', { confirmed: true });
    await store();
    expect(t.events.findLast(({ type }) => type === 'turn_started')).toMatchObject({
      inbox: [`tr:${pending?.toolCallId ?? ''}`],
    });
    expect(t.events.findLast(({ type }) => type === 'inbox_event')).toMatchObject({
      ...{ kind: 'tool_result', name: 'confirmAction', toolCallId: pending?.toolCallId },
      result: { envelope: { ok: true, result: { confirmed: true } } },
    });
    expect(t.result('bookHotel')).toEqual({
      ...{ ok: true, result: { success: true, args: { city: 'Tokyo' } } },
    });
    expect(shownIn(room).slice(2)).toEqual(['tool.done complete']);
    expect(await messages()).toMatchObject([
      {
        status: 'complete',
        metadata: { input: { message: 'Confirm booking?' }, output: { confirmed: true } },
      },
    ]);
  },
);

it(
  'sync: the cycle waits, and the result within the time is returned inline',
  promise('H37', 'S26'),
  async () => {
    const { tools } = hsafaTools([fetchExternalData]);
    const room = await storedRoom(
      tools,
      callsAll([ENTER, { name: 'fetchExternalData', input: { query: 'active projects' } }]),
      says('Found 3 active projects.'),
    );
    const { t, store, messages } = room;
    await t.send('Look up active projects');
    await t.advance('3s');
    await store();
    expect(turnsIn(room)).toBe(0);
    expect(shownIn(room)).toEqual(['tool.started running', 'tool.started requires_action']);
    await t.answer('fetchExternalData', { source: 'pm-api', results: [1, 2, 3] });
    await store();
    expect(turnsIn(room)).toBe(1);
    expect(t.eventTypes).not.toContain('inbox_event');
    expect(shownIn(room).slice(2)).toEqual(['tool.done complete']);
    expect(await messages()).toMatchObject([{ metadata: { output: { source: 'pm-api' } } }]);
  },
);

it(
  'time-out: an error after the time, and a late result for the next cycle; the space keeps the error',
  promise('H38', 'S26'),
  async () => {
    const { tools } = hsafaTools([fetchExternalData]);
    const room = await storedRoom(
      tools,
      callsAll([ENTER, { name: 'fetchExternalData', input: {} }]),
      says('It takes too long.'),
      says('Here it is.'),
    );
    const { t, store, messages } = room;
    await t.send('Look up active projects');
    await t.advance('10s');
    await store();
    expect(turnsIn(room)).toBe(1);
    expect(shownIn(room)).toEqual([
      ...['tool.started running', 'tool.started requires_action', 'tool.error error'],
    ]);
    expect(await messages()).toMatchObject([
      { metadata: { error: { message: 'Tool timed out after 10000ms' } } },
    ]);
    await t.answer('fetchExternalData', { source: 'pm-api' });
    await store();
    expect(turnsIn(room)).toBe(2);
    expect(t.events.filter(({ type }) => type === 'inbox_event')).toMatchObject([
      { name: 'fetchExternalData', result: { envelope: { result: { source: 'pm-api' } } } },
    ]);
    expect((await messages()).map(({ status }) => status)).toEqual(['error']);
  },
);
