/** Needs a real server: the time-skipping one gets stuck when a timer fires while an update is in flight. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../../src/define/define-agent.js';
import { defineTool } from '../../../src/define/define-tool.js';
import { callsAll, says, script } from '../../../src/model/scripted/scripted.js';
import { LATE_TOLERANCE_MS } from '../../../src/protocol/limits/limits.js';
import { startEngine } from '../../support/engine/engine.js';
import { patient } from '../../support/patience.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';

const QUESTIONS = 12;
/** Questions that are surely answered in time, and as many that are surely answered too late. */
const SURE = 3;

const quick = defineTool({
  name: 'quick.ask',
  description: 'Ask a person with little time.',
  executor: 'human',
  input: z.object({}),
  output: z.string(),
  // Long enough that an immediate answer is in time on a busy machine, too.
  timeouts: { answer: patient(8_000) },
});

/**
 * When each question is answered, in milliseconds after its deadline: immediately, around the deadline, and after the
 * tolerance for clocks.
 */
const OFFSETS_MS = [
  ...Array.from({ length: SURE }, () => Number.NEGATIVE_INFINITY),
  ...Array.from(
    { length: QUESTIONS - 2 * SURE },
    (_, index) => -30 + (60 * index) / (QUESTIONS - 2 * SURE),
  ),
  ...Array.from({ length: SURE }, () => LATE_TOLERANCE_MS + 100),
];

test('answers around the deadline: each call ends once, every verdict matches that end; an answer in time counts, a late one does not', {
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
  expect(pending).toHaveLength(QUESTIONS);
  const deadline = Date.parse(pending[0]?.deadline ?? '');
  const answers = await Promise.all(
    pending.map(async ({ toolCallId }, index) => {
      const due = deadline + (OFFSETS_MS[index] ?? 0);
      while (Date.now() < due) await sleep(Math.min(50, Math.max(1, due - Date.now())));
      const sentAt = Date.now();
      const { verdict } = await talk.resolve(toolCallId, { type: 'answer', value: 'here' });
      return { toolCallId, verdict, sentAt, repliedAt: Date.now() };
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
  const inTime = answers.filter(({ repliedAt }) => repliedAt < deadline);
  const late = answers.filter(({ sentAt }) => sentAt > deadline + LATE_TOLERANCE_MS);
  expect(inTime.length).toBeGreaterThanOrEqual(SURE);
  expect(late.length).toBeGreaterThanOrEqual(SURE);
  expect(new Set(inTime.map(({ verdict }) => verdict))).toEqual(new Set(['accepted']));
  expect(new Set(late.map(({ verdict }) => verdict))).toEqual(new Set(['expired']));
  await until('the turn is logged', () => log.at(-1)?.type === 'turn_ended');
  expect(await engine.history.failedTasks(engine.workflowId(talk))).toEqual([]);
});
