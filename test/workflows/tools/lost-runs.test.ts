/** A worker is lost during a tool with effects `once`, and another worker recovers the call. */
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { expect, inject, test } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../../src/define/define-agent.js';
import { defineTool } from '../../../src/define/define-tool.js';
import { calls, says, script } from '../../../src/model/scripted/scripted.js';
import { startEngine } from '../../support/engine/engine.js';
import { replay } from '../../support/engine/replay.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';

test('after a lost run of a tool with effects `once` another worker reconciles it and runs it again; a second loss holds the call', {
  ...promise('G8'),
}, async () => {
  const seen: string[] = [];
  let asked = 0;
  const refund = defineTool({
    name: 'refund',
    description: 'Refunds.',
    input: z.object({ cents: z.int() }),
    effects: 'once',
    onOutcomeUnknown: 'hold',
    run: async (_input, { idempotencyKey, signal }) => {
      seen.push(idempotencyKey);
      await new Promise((resolve) => {
        signal.addEventListener('abort', resolve);
      });
      return 'never heard of';
    },
    reconcile: () => {
      asked += 1;
      return asked === 1 ? { happened: false } : 'unknown';
    },
  });
  const model = script(calls('refund', { cents: 5 }), says('Refunded.'));
  const agent = defineAgent({ name: 'shop', instructions: 'Help.', model, tools: [refund] });
  const engine = await startEngine({ agents: [agent], tuning: { shutdownGraceTime: 1 } });
  const talk = engine.begin();
  const turn = await engine.send(talk, 'Refund 5');
  for (const runs of [1, 2]) {
    await until(`run ${runs}`, () => Promise.resolve(seen.length), {
      holds: (count) => count === runs,
    });
    await engine.stopWorker();
    await engine.startWorker();
  }
  expect(await turn.result({ timeout: '30s' })).toMatchObject({
    status: 'waiting',
    pending: [{ kind: 'outcome', name: 'refund' }],
  });
  expect(new Set(seen).size).toBe(1);
  const resolution = { type: 'outcome', value: { refunded: 5 } } as const;
  expect((await talk.resolve('call_1', resolution)).verdict).toBe('accepted');
  expect((await talk.resolve('call_1', resolution)).verdict).toBe('stale');
  await engine.idle(talk);
  const types = (await engine.logTypes(talk)).slice(6);
  expect(types).toEqual([
    ...['tool_lost', 'tool_reconciled', 'tool_lost', 'tool_reconciled'],
    ...['suspension', 'resolution', 'tool_result'],
    ...['model_call', 'assistant_message', 'turn_ended'],
  ]);
  const history = await engine.handle(talk).fetchHistory();
  await replay({ codePath: inject('workflowBundlePath') }, JSON.parse(historyToJSON(history)));
});
