import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../../src/define/define-agent.js';
import { defineTool } from '../../../src/define/define-tool.js';
import { ToolRetry } from '../../../src/define/tool/retry.js';
import { calls, says, script } from '../../../src/model/scripted/scripted.js';
import { startEngine } from '../../support/engine/engine.js';
import { promise } from '../../support/promise.js';

test.for([false, true])(
  'a retry pause that would exceed the time limit of the call is not taken: the turn continues at once (inline: %s)',
  promise('G78'),
  async (inline) => {
    const patient = defineTool({
      name: 'rates.fetch',
      description: 'Fetches rates.',
      input: z.object({}),
      effects: 'none',
      inline,
      timeouts: { total: '10 minutes' },
      run: () => {
        throw new ToolRetry({ after: '1 hour', message: 'the service rests' });
      },
    });
    const model = script(calls('rates.fetch', {}), says('later then'));
    const agent = defineAgent({ name: 'shop', model, instructions: 'Help.', tools: [patient] });
    const engine = await startEngine({ agents: [agent], services: undefined });
    const { talk, result } = await engine.ask();
    expect(result).toMatchObject({ status: 'completed', text: 'later then' });
    const ends = (await engine.log(talk)).filter((event) => event.type === 'tool_result');
    expect(ends).toMatchObject([
      { result: { envelope: { error: { message: 'the service rests' } } } },
    ]);
  },
);

test('a retry whose reason has half of a surrogate pair ends no worker: the next attempt runs', {
  ...promise('G246'),
}, async () => {
  let runs = 0;
  const cut = defineTool({
    name: 'rates.fetch',
    description: 'Fetches rates.',
    input: z.object({}),
    effects: 'none',
    run: () => {
      runs += 1;
      if (runs === 1) throw new ToolRetry({ message: 'Busy: \ud83d' });
      return { rate: 7 };
    },
  });
  const model = script(calls('rates.fetch', {}), says('It is 7.'));
  const agent = defineAgent({ name: 'shop', model, instructions: 'Help.', tools: [cut] });
  const engine = await startEngine({ agents: [agent], services: undefined });
  const { result } = await engine.ask();
  expect(result).toMatchObject({ status: 'completed', text: 'It is 7.' });
  expect(runs).toBe(2);
});
