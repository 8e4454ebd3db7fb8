/** Needs a real server: the time-skipping one gets stuck when a timer fires while an update is in flight. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../../src/define/define-agent.js';
import { defineTool } from '../../../src/define/define-tool.js';
import { callsAll, says, script } from '../../../src/model/scripted/scripted.js';
import { startEngine } from '../../support/engine/engine.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';

const QUESTIONS = 12;

const quick = defineTool({
  name: 'quick.ask',
  description: 'Ask a person with little time.',
  executor: 'human',
  input: z.object({}),
  output: z.string(),
  timeouts: { answer: '1s' },
});

test('answers around the deadline: each call ends once, and every verdict matches that end', {
  ...promise('G259', 'S14'),
}, async () => {
  const model = script(
    callsAll(Array.from({ length: QUESTIONS }, () => ({ name: 'quick.ask', input: {} }))),
    says('done'),
  );
  const agent = defineAgent({ name: 'quick', model, instructions: 'Ask.', tools: [quick] });
  const engine = await startEngine({ agents: [agent] });
  const { talk } = await engine.ask();
  const { pending } = await engine.snapshot(talk);
  const deadline = Date.parse(pending[0]?.deadline ?? '');
  // Sends the answers from 30 ms before the deadline to 30 ms after it.
  const verdicts = await Promise.all(
    pending.map(async ({ toolCallId }, index) => {
      const due = deadline - 30 + (60 * index) / QUESTIONS;
      while (Date.now() < due) await sleep(Math.min(50, Math.max(1, due - Date.now())));
      const outcome = await talk.resolve(toolCallId, { type: 'answer', value: 'here' });
      return [toolCallId, outcome.verdict] as const;
    }),
  );
  await engine.idle(talk);
  const log = await engine.log(talk);
  const ends = new Map<string, string>();
  for (const event of log)
    if (event.type === 'tool_result') {
      expect(ends.has(event.toolCallId)).toBe(false);
      ends.set(event.toolCallId, event.result.status);
    }
  expect(ends.size).toBe(QUESTIONS);
  for (const [toolCallId, verdict] of verdicts)
    expect([verdict, ends.get(toolCallId)]).toEqual(
      verdict === 'accepted' ? ['accepted', 'resolved'] : ['expired', 'expired'],
    );
  await until('the turn is logged', () => log.at(-1)?.type === 'turn_ended');
  expect(await engine.history.failedTasks(engine.workflowId(talk))).toEqual([]);
});
