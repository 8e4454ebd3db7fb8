/** Use: a tool that asks in the middle of its work, and continues days later with the answer. */
import { deepEqual } from 'node:assert/strict';
import { initColloquy, openaiModel } from 'colloquy';
import { calls, says, script, testConversation } from 'colloquy/testing';
import { z } from 'zod';

// #region tool
const { defineTool, defineAgent } = initColloquy();

const Slot = z.object({ day: z.iso.date(), hour: z.int().min(8).max(18) });

const appointment = defineTool({
  name: 'appointments.book',
  description: 'Books an appointment; the customer is asked for the time.',
  input: z.object({ with: z.string() }),
  timeouts: { answer: '5 days' },
  // Runs from its first line each time: first to ask, and again with the answer.
  run: async (input, ctx) => {
    const slot = await ctx.answerTo(Slot);
    if (slot === undefined) {
      const reservation = `${input.with}/${ctx.toolCallId}`;
      return ctx.ask({ form: Slot, reason: 'When would suit you?', state: { reservation } });
    }
    return { booked: slot, reservation: ctx.state, by: ctx.answeredBy?.id ?? '' };
  },
});
// #endregion tool

export async function aCustomerPicksATimeDaysLater(): Promise<void> {
  const model = script(calls('appointments.book', { with: 'Dr. Ek' }), says('It is booked.'));
  const desk = defineAgent({
    name: 'desk',
    model: openaiModel('gpt-5-mini'),
    instructions: 'Help the caller.',
    tools: [appointment],
  });
  const t = testConversation(desk, { model });
  // #region answer
  await t.send('An appointment with Dr. Ek, please');
  const [question] = t.pending;
  deepEqual([question?.kind, question?.reason], ['elicitation', 'When would suit you?']);
  await t.advance('4 days');
  const value = { day: '2026-02-03', hour: 9 };
  const { verdict } = await t.resolve('appointments.book', { type: 'answer', value });
  deepEqual(verdict, 'accepted');
  deepEqual(t.text, 'It is booked.');
  // #endregion answer
  const result = t.result('appointments.book');
  deepEqual(result, {
    ok: true,
    result: { booked: value, reservation: { reservation: 'Dr. Ek/call_1' }, by: 'tester' },
  });
}
