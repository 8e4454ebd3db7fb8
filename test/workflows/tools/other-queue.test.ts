import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../../src/define/define-agent.js';
import { defineTool } from '../../../src/define/define-tool.js';
import { ToolRetry } from '../../../src/define/tool/retry.js';
import { callsAll, says, script } from '../../../src/model/scripted/scripted.js';
import { startEngine } from '../../support/engine/engine.js';
import { promise } from '../../support/promise.js';

interface Services {
  readonly place: string;
}

test('a tool with its own task queue runs on the workers of that queue, with their services, and may request a retry', {
  ...promise('G120'),
}, async () => {
  const taskQueue = `gpu-${randomUUID()}`;
  const base = { description: 'Says where it runs.', input: z.object({}) };
  const there = defineTool<Services, z.ZodObject>({
    ...base,
    name: 'there',
    taskQueue,
    run: (_input, { services, attempt }) => {
      if (attempt < 2) throw new ToolRetry({ after: 50, message: 'warming up' });
      return { place: services.place, attempt };
    },
  });
  const here = defineTool<Services, z.ZodObject>({
    ...base,
    name: 'here',
    run: (_input, { services }) => ({ place: services.place }),
  });
  const model = script(
    callsAll([
      { name: 'there', input: {} },
      { name: 'here', input: {} },
    ]),
    says('Done.'),
  );
  const agent = defineAgent<Services>({
    name: 'where',
    instructions: 'Help.',
    model,
    tools: [there, here],
  });
  const agents = [agent];
  await startEngine({ agents, services: { place: 'gpu' }, taskQueue });
  const engine = await startEngine({ agents, services: { place: 'home' } });
  const { talk, result } = await engine.ask();
  expect(result).toMatchObject({ status: 'completed', text: 'Done.' });
  const results = (await engine.log(talk)).flatMap((event) =>
    event.type === 'tool_result' ? [[event.name, event.result.envelope]] : [],
  );
  expect(Object.fromEntries(results)).toEqual({
    there: { ok: true, result: { place: 'gpu', attempt: 2 } },
    here: { ok: true, result: { place: 'home' } },
  });
});
