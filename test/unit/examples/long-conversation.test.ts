/** Runs the example that docs/context.md shows. */
import { expect, it } from 'vitest';
import { aLongConversation } from '../../../examples/uses/long-conversation.js';

it('a long conversation is summarised, and the model gets the summary and the newest turns, as docs/context.md shows', async () => {
  const { messages, summary } = await aLongConversation();
  expect(summary).toBe(1);
  expect(messages).toBeLessThan(15);
});
