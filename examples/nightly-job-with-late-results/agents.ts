import { initColloquy } from 'colloquy';
import { callsAll, says, scriptedBy } from 'colloquy/testing';
import { z } from 'zod';

const { defineTool, defineAgent } = initColloquy();

const order = defineTool({
  name: 'warehouse.export',
  description: 'Orders an export of the warehouse. It takes hours; the result comes as an event.',
  executor: 'external',
  mode: 'detach',
  input: z.object({ region: z.string() }),
  output: z.object({ rows: z.int() }),
  // So short for this example: the export of the south comes after its deadline.
  timeouts: { answer: '8 seconds' },
});

export const reporter = defineAgent({
  name: 'reporter',
  instructions: 'You report on the warehouse.',
  model: scriptedBy(({ messages }) => {
    const last = messages.at(-1);
    const text = JSON.stringify(last);
    if (text.includes('Order'))
      return callsAll([
        { name: 'warehouse.export', input: { region: 'north' } },
        { name: 'warehouse.export', input: { region: 'south' } },
      ]);
    if (last?.role === 'tool') return says('Both exports are ordered.');
    const [, rows] = /"rows":(\d+)/.exec(text.replaceAll('\\', '')) ?? [];
    return says(
      rows === undefined ? 'An export did not come in time.' : `There is an export: ${rows} rows.`,
    );
  }),
  tools: [order],
});
