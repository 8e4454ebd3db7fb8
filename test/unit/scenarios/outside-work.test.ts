/**
 * Work of another system, awaited or not: in time, too late, and in the middle of other work. Scenarios S21 to S23.
 */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent, defineTool } from '../../../src/index.js';
import type { ScriptedAnswer } from '../../../src/model/scripted/types.js';
import {
  calls,
  says,
  script,
  type TestConversation,
  testConversation,
} from '../../../src/testing/index.js';
import { promise } from '../../support/promise.js';

const lookup = defineTool({
  name: 'project.lookup',
  description: 'Looks a project up in another system.',
  executor: 'external',
  input: z.object({ project: z.string() }),
  timeouts: { answer: '10s' },
});
const confirm = defineTool({
  name: 'booking.confirm',
  description: 'Asks the guest to confirm; you are told of the answer when it is there.',
  executor: 'human',
  mode: 'detach',
  input: z.object({ hotel: z.string() }),
});

function talkWith(...answers: readonly ScriptedAnswer[]) {
  const model = script(...answers);
  const tools = [lookup, confirm];
  const agent = defineAgent({ name: 'clerk', model, instructions: 'Help.', tools });
  return { model, t: testConversation(agent) };
}
const typesOf = (t: TestConversation<unknown>, type: string) =>
  t.events.filter((event) => event.type === type);
const newest = (model: { requests: readonly { messages: readonly unknown[] }[] }) =>
  JSON.stringify(model.requests.at(-1)?.messages.at(-1));

describe('work of another system that the turn waits for', () => {
  it('is the result when it comes in time, and causes no other input (S21)', {
    ...promise('S21', 'H22', 'H28', 'H37', 'H40', 'H45'),
  }, async () => {
    const { t } = talkWith(calls('project.lookup', { project: 'p' }), says('Found.'));
    await t.send('look');
    await t.advance('9s');
    const verdict = await t.resolve('project.lookup', { type: 'result', value: { id: 7 } });
    expect(verdict.verdict).toBe('accepted');
    expect(t.result('project.lookup')).toEqual({ ok: true, result: { id: 7 } });
    expect(typesOf(t, 'inbox_event')).toEqual([]);
    await t.advance('1 hour');
    expect(typesOf(t, 'tool_result')).toHaveLength(1);
  });

  it('is an error when its time is over; a later result is read as new input, exactly once (S21)', {
    ...promise('S21', 'H22', 'H28', 'H38', 'H40'),
  }, async () => {
    const { model, t } = talkWith(
      calls('project.lookup', { project: 'p' }),
      says('It took too long.'),
      says('Here it is.'),
    );
    await t.send('look');
    await t.advance('10s');
    expect(t.result('project.lookup')).toEqual({
      ok: false,
      error: { code: 'expired', message: 'Tool timed out after 10000ms' },
    });
    expect(t.text).toBe('It took too long.');
    const late = { type: 'result', value: { id: 7 } } as const;
    const first = await t.resolve('project.lookup', late, { requestId: 'r' });
    const repeated = await t.resolve('project.lookup', late, { requestId: 'r' });
    const second = await t.resolve('project.lookup', late);
    expect([first, repeated, second].map(({ verdict }) => verdict)).toEqual([
      'accepted_late',
      'duplicate',
      'stale',
    ]);
    expect(typesOf(t, 'tool_result')).toHaveLength(1);
    expect(typesOf(t, 'inbox_event')).toMatchObject([{ toolCallId: 'call_1' }]);
    expect(newest(model)).toContain(
      String.raw`[Tool result: project.lookup] (call call_1) {\"ok\":true,\"result\":{\"id\":7}}`,
    );
    expect(t.text).toBe('Here it is.');
  });
});

describe('a question that the turn does not wait for', () => {
  const ask = calls('booking.confirm', { hotel: 'Tokyo Inn' });

  it('is "pending" at once; the agent answers other messages, and the answer starts a turn of its own (S22)', {
    ...promise('S22', 'H10', 'H20', 'H29', 'H36', 'H39', 'H44'),
  }, async () => {
    const { model, t } = talkWith(ask, says('I asked.'), says('It is noon.'), says('Booked.'));
    await t.send('book');
    expect(t.result('booking.confirm')).toEqual({
      ok: true,
      result: { status: 'pending', pendingToolCallId: 'call_1' },
    });
    expect(t.text).toBe('I asked.');
    await t.send('what time is it?');
    expect(t.text).toBe('It is noon.');
    t.rollOver();
    const verdict = await t.resolve('booking.confirm', { type: 'answer', value: 'yes' });
    expect(verdict.verdict).toBe('accepted');
    expect(newest(model)).toContain(
      String.raw`[Tool result: booking.confirm] (call call_1) {\"ok\":true,\"result\":\"yes\"}`,
    );
    expect(t.text).toBe('Booked.');
    expect(typesOf(t, 'turn_started')).toHaveLength(3);
  });

  it('answered while a turn runs is read by the next model call of that turn (S23)', {
    ...promise('S23', 'H36'),
  }, async () => {
    const { model, t } = talkWith(
      ask,
      says('I asked.'),
      calls('project.lookup', { project: 'p' }),
      says('Found, and confirmed.'),
    );
    await t.send('book');
    await t.send('look');
    await t.resolve('booking.confirm', { type: 'answer', value: 'yes' });
    expect(t.snapshot.status).toBe('awaiting_input');
    expect(model.requests).toHaveLength(3);
    await t.resolve('project.lookup', { type: 'result', value: 7 });
    expect(newest(model)).toContain(
      String.raw`[Tool result: booking.confirm] (call call_1) {\"ok\":true,\"result\":\"yes\"}`,
    );
    expect(t.text).toBe('Found, and confirmed.');
    expect(typesOf(t, 'turn_started')).toHaveLength(2);
  });

  it('that is declined or expires reaches the model, too, each once', async () => {
    for (const [how, code] of [
      ['decline', 'declined'],
      ['expire', 'expired'],
    ] as const) {
      const { model, t } = talkWith(ask, says('I asked.'), says('I see.'));
      await t.send('book');
      if (how === 'decline') await t.resolve('booking.confirm', { type: 'decline' });
      else await t.advance('7 days');
      expect(newest(model)).toContain(code);
      expect(typesOf(t, 'inbox_event')).toHaveLength(1);
      expect(t.text).toBe('I see.');
    }
  });
});
