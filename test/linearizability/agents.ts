/**
 * An agent whose message names the calls that it makes, all in one step: `pay`, `ask` and `render` each wait for one
 * answer. `colloquy worker` loads this source: Node strips the types.
 */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { initColloquy } from 'colloquy';
import { callsAll, says, scriptedBy } from 'colloquy/testing';
import { z } from 'zod';

const { defineTool, defineAgent } = initColloquy();
const RUNS = join(process.env['E2E_FOLDER'] ?? '', 'runs.jsonl');
const input = z.object({ label: z.string() });

const pay = defineTool({
  name: 'pay',
  description: 'Pays, once.',
  input,
  effects: 'once',
  approval: 'required',
  timeouts: { approval: '2 hours' },
  run: (_input, { conversationId, toolCallId }) => {
    appendFileSync(RUNS, `${JSON.stringify({ conversationId, toolCallId })}\n`);
    return 'paid';
  },
});

const ask = defineTool({
  name: 'ask',
  description: 'Asks a person.',
  executor: 'human',
  input,
  output: z.object({ word: z.string() }),
  timeouts: { answer: '2 hours' },
});

const render = defineTool({
  name: 'render',
  description: 'Renders in another backend.',
  executor: 'external',
  input,
  output: z.object({ frames: z.number() }),
  timeouts: { claim: '2 hours', answer: '2 hours' },
});

export const raced = defineAgent({
  name: 'raced',
  instructions: 'Make the calls.',
  model: scriptedBy(({ messages }) => {
    const last = messages.at(-1);
    if (last?.role !== 'user') return says('done');
    const [text = ''] = last.parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
    return callsAll(text.split(' ').map((name, index) => ({ name, input: { label: `${index}` } })));
  }),
  tools: [pay, ask, render],
});
