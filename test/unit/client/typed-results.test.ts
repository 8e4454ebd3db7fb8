/** The compiler's side of the client: types of a result, an answer and a pending call. Checked by `tsc -p test`. */
import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import type {
  Conversation,
  ConversationClient,
  PendingCall,
  PendingTarget,
  TurnHandle,
} from '../../../src/client/index.js';
import { defineAgent, defineTool, isPendingOf, type Json } from '../../../src/index.js';
import { script } from '../../../src/model/scripted/scripted.js';

const ask = defineTool({
  name: 'customer.ask',
  description: 'Asks the customer.',
  executor: 'human',
  input: z.object({ question: z.string() }),
  output: z.object({ size: z.int() }),
});
const cart = defineTool({
  name: 'cart.read',
  description: 'Reads the cart.',
  executor: 'client',
  input: z.object({}),
  output: z.object({ items: z.array(z.string()) }),
});
const refund = defineTool({
  name: 'payments.refund',
  description: 'Refunds.',
  input: z.object({ cents: z.int() }),
  output: z.object({ refundId: z.string() }),
  run: () => ({ refundId: 're_1' }),
});
const support = defineAgent({
  name: 'support',
  model: script(),
  instructions: 'Help.',
  tools: [ask, cart, refund],
  output: z.object({ refunded: z.boolean() }),
});

/** Compiled, and never called. */
type Compiled = (client: ConversationClient, pending: unknown) => Promise<void>;

describe('types of the client', () => {
  it('give a result the output of the agent that the conversation names by itself, not by its name', () => {
    const use: Compiled = async (client) => {
      const typed = client.conversation('c1', { agent: support });
      expectTypeOf(typed).toExtend<Conversation<{ readonly refunded: boolean }>>();
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
      if (isPendingOf(support, pending) && pending.name === 'customer.ask') {
        expectTypeOf(pending).toExtend<PendingTarget<{ readonly size: number } | Json>>();
        await client.resolve(pending, { type: 'answer', value: { size: 44 } });
        // @ts-expect-error the tool wants a number
        await client.resolve(pending, { type: 'answer', value: { size: 'large' } });
        await client.resolve(pending.ref, { type: 'answer', value: { anything: true } });
      }
    };
    expect(use).toBeTypeOf('function');
  });

  it('give a turn that is attached to again the output of the agent that is named with it', () => {
    const use: Compiled = async (client) => {
      const turn = client.turn('c1', 't1', { agent: support });
      expectTypeOf(turn).toEqualTypeOf<TurnHandle<{ readonly refunded: boolean }>>();
      expectTypeOf(client.turn('c1', 't1')).toEqualTypeOf<TurnHandle>();
      expectTypeOf(client.turn('c1', 't1', { agent: 'support' })).toEqualTypeOf<TurnHandle>();
      await client.list({ agent: support });
      await client.list({ agent: 'support' });
    };
    expect(use).toBeTypeOf('function');
  });

  it('give an answer the type of the tool that its call names, for each tool of the agent', () => {
    const use: Compiled = async (client, pending) => {
      const conversation = client.conversation('c1', { agent: support });
      const asked = { toolCallId: 'call_1', name: 'customer.ask' } as const;
      await conversation.resolve(asked, { type: 'answer', value: { size: 44 } });
      await conversation.resolve(asked, { type: 'decline' });
      // @ts-expect-error this tool wants a number
      await conversation.resolve(asked, { type: 'answer', value: { size: 'large' } });
      const read = { toolCallId: 'call_2', name: 'cart.read' };
      await conversation.resolve(
        { toolCallId: 'call_2', name: 'cart.read' },
        { type: 'result', value: { items: ['a'] } },
      );
      await conversation.resolve(
        { toolCallId: 'call_2', name: 'cart.read' },
        // @ts-expect-error the answer of the other tool
        { type: 'result', value: { size: 44 } },
      );
      // A question that the code of a server tool asks may have any answer.
      await conversation.resolve(
        { toolCallId: 'call_3', name: 'payments.refund' },
        { type: 'answer', value: 'yes' },
      );
      // By its id alone, by a name that is a text, by a pending call of any tool, or of an agent that is a name.
      await conversation.resolve('call_1', { type: 'answer', value: { anything: true } });
      await conversation.resolve(read, { type: 'answer', value: { anything: true } });
      await conversation.resolve(pending as PendingCall, { type: 'answer', value: 1 });
      const named = client.conversation('c1', { agent: 'support' });
      await named.resolve(asked, { type: 'answer', value: { anything: true } });
    };
    expect(use).toBeTypeOf('function');
  });

  it('give a result of a step the type of the client tool that it names', () => {
    const use: Compiled = async (client) => {
      const conversation = client.conversation('c1', { agent: support });
      const toolCallId = 'call_2';
      await conversation.resolveBatch('s1', [
        { toolCallId, name: 'cart.read', result: { items: ['a'] }, executionMs: 5 },
        { toolCallId, resultJson: '{"items":[]}' },
        { toolCallId, errorMessage: 'The tab was closed' },
      ]);
      await conversation.resolveBatch('s1', [
        // @ts-expect-error items are texts
        { toolCallId, name: 'cart.read', result: { items: [1] } },
      ]);
      await conversation.resolveBatch('s1', [
        // @ts-expect-error a person answers this tool, not the client
        { toolCallId, name: 'customer.ask', result: { size: 44 } },
      ]);
      const named = client.conversation('c1', { agent: 'support' });
      await named.resolveBatch('s1', [{ toolCallId, name: 'any', result: { anything: true } }]);
    };
    expect(use).toBeTypeOf('function');
  });
});
