/** An answer in the form that a message asks for, on a real server: by the client, as a repeat, and by a plain signal. */
import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineAgent, outputOf } from '../../src/index.js';
import { says, script } from '../../src/model/scripted.js';
import { startEngine } from '../support/engine.js';

const output = {
  type: 'object',
  properties: { total: { type: 'integer' } },
  required: ['total'],
} as const;

test('a message may ask for its answer in a form: the result has it, and a wrong form is refused at the door', async () => {
  const model = script(says('Twelve.'), says('{"total":12}'), says('It is twelve.'));
  const agent = defineAgent({ name: 'adder', instructions: 'Add.', model });
  const engine = await startEngine({ agents: [agent] });
  const talk = engine.begin();
  const options = { output, requestId: 'job-1' };
  const result = await engine.say(talk, 'Add 5 and 7', options);
  expect(result).toMatchObject({
    status: 'completed',
    text: '{"total":12}',
    output: { total: 12 },
  });
  const again = await engine.send(talk, 'Add 5 and 7', options);
  expect(again.duplicate).toBe(true);
  expect(await again.result()).toMatchObject({ output: { total: 12 } });
  await expect(talk.send('Add', { output: { type: 'string' } })).rejects.toMatchObject({
    code: 'invalid_request',
    problems: [{ path: '/output' }],
  });
  const plain = await engine.say(talk, 'In words, please');
  expect(plain).toMatchObject({ status: 'completed', text: 'It is twelve.' });
  expect(plain).not.toHaveProperty('output');
});

test('a message may ask in zod, or for a text where its agent answers in a form; both hold over a repeat', async () => {
  const Sum = z.object({ total: z.int(), unit: z.string().default('EUR') });
  const model = script(says('{"total":12}'), says('It is twelve.'), says('{"total":3}'));
  const agent = defineAgent({ name: 'adder', instructions: 'Add.', model, output: Sum });
  const engine = await startEngine({ agents: [agent] });
  const talk = engine.begin();
  const Other = z.object({ total: z.int(), unit: z.string().default('cents') });
  const first = await engine.say(talk, 'Add 5 and 7', { output: Other });
  expect(first).toMatchObject({ status: 'completed', output: { total: 12 } });
  expect(outputOf(Other, first)).toEqual({ total: 12, unit: 'cents' });
  const options = { output: false, requestId: 'in-words' } as const;
  const words = await engine.say(talk, 'In words, please', options);
  expect(words).toMatchObject({ status: 'completed', text: 'It is twelve.' });
  expect(words).not.toHaveProperty('output');
  expect((await engine.send(talk, 'In words, please', options)).duplicate).toBe(true);
  expect(await engine.say(talk, 'Add 1 and 2')).toMatchObject({
    output: { total: 3, unit: 'EUR' },
  });
  await expect(talk.send('When?', { output: z.object({ at: z.date() }) })).rejects.toMatchObject({
    code: 'invalid_request',
    problems: [{ path: '/output' }],
  });
});
