/** Structured output of a message on a real server: by the client, as a repeat, and by a plain signal. */
import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineAgent, outputOf } from '../../../src/index.js';
import { says, script } from '../../../src/model/scripted/scripted.js';
import type { JsonSchema } from '../../../src/protocol/values/json.js';
import { startEngine } from '../../support/engine/engine.js';
import { promise } from '../../support/promise.js';

const output = {
  type: 'object',
  properties: { total: { type: 'integer' } },
  required: ['total'],
} as const;

test('a message may request an output schema: the result holds the parsed value, and an invalid schema is refused', {
  ...promise('G165', '2.A.7'),
}, async () => {
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

test('a message may pass a zod schema, or request plain text from an agent with a schema; both survive a repeat', {
  ...promise('G163', '2.A.7'),
}, async () => {
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

/** Nested repetition: a backtracking engine takes 2^60 steps for a text of sixty letters and a mark. */
function byPattern(pattern: string): JsonSchema {
  return { type: 'object', properties: { x: { type: 'string', pattern } }, required: ['x'] };
}

test('a pattern that backtracks exponentially blocks no other conversation: its turn ends with the problem, and others continue', {
  ...promise('G272'),
}, async () => {
  const slow = JSON.stringify({ x: `${'a'.repeat(60)}!` });
  const model = script(says(slow), says(slow), says('Hello.'));
  const engine = await startEngine({
    agents: [
      defineAgent({ name: 'slow', instructions: 'Answer.', model }),
      defineAgent({ name: 'other', instructions: 'Answer.', model: script(says('Hi.')) }),
    ],
  });
  const talk = engine.begin();
  const other = engine.client.conversation(`other-${engine.taskQueue}`, { agent: 'other' });
  const [ended, served] = await Promise.all([
    engine.say(talk, 'Which?', { output: byPattern('^(a+)+$') }),
    engine.say(other, 'Hello?'),
  ]);
  expect(served).toMatchObject({ status: 'completed', text: 'Hi.' });
  expect(ended).toMatchObject({
    status: 'failed',
    error: {
      code: 'model_invalid_output',
      message: expect.stringContaining('/x: must match the pattern ^(a+)+$') as string,
    },
  });
  expect(await engine.say(talk, 'Well?')).toMatchObject({ status: 'completed', text: 'Hello.' });
});

test('a pattern that cannot be matched in linear time, sent by a plain signal, fails its turn before the model is called', {
  ...promise('G274'),
}, async () => {
  const model = script(says('Hello.'), says('Still here.'));
  const agent = defineAgent({ name: 'slow', instructions: 'Answer.', model });
  const engine = await startEngine({ agents: [agent] });
  const talk = engine.begin();
  await engine.say(talk, 'Hello?');
  await engine.temporal.workflow.getHandle(engine.workflowId(talk)).signal('sendMessage', {
    text: 'Which?',
    output: byPattern('^(?=a)(.)\\1$'),
    requestId: 'by-hand',
  });
  await engine.idle(talk);
  const ends = (await engine.log(talk)).filter(({ type }) => type === 'turn_ended');
  expect(ends.at(-1)).toMatchObject({
    status: 'failed',
    error: {
      code: 'invalid_request',
      message: expect.stringContaining(
        '/output/properties/x/pattern: the pattern cannot be matched in linear time',
      ) as string,
    },
  });
  expect(await engine.say(talk, 'Well?')).toMatchObject({ text: 'Still here.' });
});
