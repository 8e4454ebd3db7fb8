/** The agent of the inbox's measurements: each message is the call that it makes, as JSON. */
import { initColloquy } from 'colloquy';
import { calls, says, scriptedBy } from 'colloquy/testing';
import { z } from 'zod';

const { defineTool, defineAgent } = initColloquy();

const pay = defineTool({
  name: 'bench.pay',
  description: 'Pays an invoice.',
  input: z.object({ invoice: z.string(), cents: z.int() }),
  approval: 'required',
  run: () => 'paid',
});

const mail = defineTool({
  name: 'bench.mail',
  description: 'Sends a mail.',
  input: z.object({ to: z.string(), text: z.string() }),
  approval: 'required',
  run: () => 'sent',
});

const ask = defineTool({
  name: 'bench.ask',
  description: 'Asks a person.',
  executor: 'human',
  input: z.object({ question: z.string() }),
  output: z.object({ answer: z.string().min(1) }),
});

export const clerk = defineAgent({
  name: 'bench-clerk',
  model: scriptedBy(({ messages }) => {
    const last = messages.at(-1);
    if (last?.role !== 'user') return says('Done.');
    const text = last.parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
    const { name, input } = JSON.parse(text) as { readonly name: string; readonly input: object };
    return calls(name, input as never);
  }),
  instructions: 'Do what the message says.',
  tools: [pay, mail, ask],
});
