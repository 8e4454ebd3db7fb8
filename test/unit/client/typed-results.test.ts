/** The compiler's side of the client: types of a result, an answer and a pending call. Checked by `tsc -p test`. */
import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import type { Conversation, ConversationClient, PendingTarget } from '../../../src/client/index.js';
import { defineAgent, defineTool, isPendingOf, type Json } from '../../../src/index.js';
import { script } from '../../../src/model/scripted/scripted.js';

const ask = defineTool({
  name: 'customer.ask',
  description: 'Asks the customer.',
  executor: 'human',
  input: z.object({ question: z.string() }),
  output: z.object({ size: z.int() }),
});
const support = defineAgent({
  name: 'support',
  model: script(),
  instructions: 'Help.',
  tools: [ask],
  output: z.object({ refunded: z.boolean() }),
});

/** Compiled, and never called. */
type Compiled = (client: ConversationClient, pending: unknown) => Promise<void>;

describe('types of the client', () => {
  it('give a result the output of the agent that the conversation names by itself, not by its name', () => {
    const use: Compiled = async (client) => {
      const typed = client.conversation('c1', { agent: support });
      expectTypeOf(typed).toEqualTypeOf<Conversation<{ readonly refunded: boolean }>>();
      const sent = await typed.send('hello');
      const result = await sent.result();
      if (result.status === 'completed')
        expectTypeOf(result.output).toEqualTypeOf<{ readonly refunded: boolean } | undefined>();
      const named = client.conversation('c1', { agent: 'support' });
      const other = await (await named.send('hello')).result();
      if (other.status === 'completed')
        expectTypeOf(other.output).toEqualTypeOf<Json | undefined>();
    };
    expect(use).toBeTypeOf('function');
  });

  it('give a result the output of the schema that went with the message, as JSON', () => {
    const use: Compiled = async (client) => {
      const conversation = client.conversation('c1', { agent: 'support' });
      const sent = await conversation.send('when?', {
        output: z.object({ at: z.date().or(z.string()) }),
      });
      const result = await sent.result();
      if (result.status === 'completed')
        expectTypeOf(result.output).toEqualTypeOf<{ readonly at: string } | undefined>();
      const plain = await conversation.send('when?', { output: { type: 'object' } });
      const untyped = await plain.result();
      if (untyped.status === 'completed')
        expectTypeOf(untyped.output).toEqualTypeOf<Json | undefined>();
    };
    expect(use).toBeTypeOf('function');
  });

  it('give an answer to a pending call of an agent the type that its tool declares', () => {
    const use: Compiled = async (client, pending) => {
      if (isPendingOf(support, pending)) {
        expectTypeOf(pending).toExtend<PendingTarget<{ readonly size: number } | Json>>();
        await client.resolve(pending, { type: 'answer', value: { size: 44 } });
        // @ts-expect-error the tool wants a number
        await client.resolve(pending, { type: 'answer', value: { size: 'large' } });
        await client.resolve(pending.ref, { type: 'answer', value: { anything: true } });
      }
    };
    expect(use).toBeTypeOf('function');
  });
});
