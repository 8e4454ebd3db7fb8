import { initColloquy } from 'colloquy';
import { calls, says, scriptedBy } from 'colloquy/testing';
import { z } from 'zod';

const { defineTool, defineAgent } = initColloquy();

const Slot = z.strictObject({
  day: z.iso.date().describe('Day of the appointment'),
  hour: z.int().min(8).max(18).describe('Full hour'),
  note: z.string().max(200).optional().describe('Anything we should know'),
});

const book = defineTool({
  name: 'appointments.book',
  description: 'Books an appointment; the customer is asked for the time.',
  input: z.object({ with: z.string() }),
  effects: 'once',
  timeouts: { answer: '5 days' },
  // Runs from its first line each time: first to ask, and again with the answer.
  run: async (input, ctx) => {
    const slot = await ctx.answerTo(Slot);
    if (slot === undefined)
      return ctx.ask({ form: Slot, reason: `When do you meet ${input.with}?` });
    return { booked: `${slot.day} ${slot.hour}:00`, with: input.with };
  },
});

export const secretary = defineAgent({
  name: 'secretary',
  instructions: 'You book appointments.',
  model: scriptedBy(({ messages }) => {
    const booked = /"booked":"([^"]+)"/.exec(JSON.stringify(messages).replaceAll('\\', ''));
    return booked === null
      ? calls('appointments.book', { with: 'Dr. Ek' })
      : says(`You meet Dr. Ek at ${booked[1] ?? ''}.`);
  }),
  tools: [book],
});
