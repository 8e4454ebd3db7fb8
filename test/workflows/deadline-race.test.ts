/** On a real server: the time-skipping one gets stuck when a timer fires while an update is on its way. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../src/define/agent.js';
import { defineTool } from '../../src/define/tool.js';
import { callsAll, says, script } from '../../src/model/scripted.js';
import { LATE_TOLERANCE_MS } from '../../src/protocol/limits.js';
import { startEngine } from '../support/engine.js';
import { until } from '../support/until.js';

const QUESTIONS = 12;

const quick = defineTool({
  name: 'quick.ask',
  description: 'Ask somebody who has little time.',
  executor: 'human',
  input: z.object({}),
  output: z.string(),
  // Long enough that an answer at once is in time on a busy machine, too.
  timeouts: { answer: '8s' },
});

/** When each question is answered, from its deadline on: at once, around the deadline, and behind the tolerance for clocks. */
const OFFSETS_MS = [
  ...Array.from({ length: 3 }, () => Number.NEGATIVE_INFINITY),
  ...Array.from({ length: QUESTIONS - 6 }, (_, index) => -30 + (60 * index) / (QUESTIONS - 6)),
  ...Array.from({ length: 3 }, () => LATE_TOLERANCE_MS + 100),
];

test('answers around the deadline: each call has one end, every verdict tells which; in time counts, late does not', async () => {
  const model = script(
    callsAll(Array.from({ length: QUESTIONS }, () => ({ name: 'quick.ask', input: {} }))),
    says('done'),
  );
  const agent = defineAgent({ name: 'quick', model, instructions: 'Ask.', tools: [quick] });
  const engine = await startEngine({ agents: [agent] });
  const { talk } = await engine.ask();
  const { pending } = await engine.snapshot(talk);
  expect(pending).toHaveLength(QUESTIONS);
  const deadline = Date.parse(pending[0]?.deadline ?? '');
  const answers = await Promise.all(
    pending.map(async ({ toolCallId }, index) => {
      const due = deadline + (OFFSETS_MS[index] ?? 0);
      while (Date.now() < due) await sleep(Math.min(50, Math.max(1, due - Date.now())));
      const sentAt = Date.now();
      const { verdict } = await talk.resolve(toolCallId, { type: 'answer', value: 'here' });
      return { toolCallId, verdict, sentAt, toldAt: Date.now() };
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
  for (const { toolCallId, verdict } of answers)
    expect([verdict, ends.get(toolCallId)]).toEqual(
      verdict === 'accepted' ? ['accepted', 'resolved'] : ['expired', 'expired'],
    );
  const inTime = answers.filter(({ toldAt }) => toldAt < deadline);
  const late = answers.filter(({ sentAt }) => sentAt > deadline + LATE_TOLERANCE_MS);
  // The first three were answered at once, and have all of the time of their calls for it.
  expect(inTime.length).toBeGreaterThanOrEqual(3);
  expect(late.length).toBeGreaterThanOrEqual(3);
  expect(new Set(inTime.map(({ verdict }) => verdict))).toEqual(new Set(['accepted']));
  expect(new Set(late.map(({ verdict }) => verdict))).toEqual(new Set(['expired']));
  await until('the turn is logged', () => log.at(-1)?.type === 'turn_ended');
  expect(await engine.history.failedTasks(engine.workflowId(talk))).toEqual([]);
});
