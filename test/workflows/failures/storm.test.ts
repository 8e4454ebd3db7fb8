import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ConversationError } from '../../../src/client/index.js';
import { SIGNALS } from '../../../src/protocol/workflow/messaging.js';
import { ledger, shop } from '../../support/engine/agents.js';
import { startEngine } from '../../support/engine/engine.js';
import { refundsOnOdd } from '../../support/engine/models.js';
import { replayAll } from '../../support/engine/replay.js';
import { bundleFromSource } from '../../support/engine/workflow-bundle.js';
import { askFromOutside } from '../../support/histories/asked-from-outside.js';
import { patient } from '../../support/patience.js';
import { promise } from '../../support/promise.js';
import { type DevServer, startDevServer } from '../../support/servers/dev-server.js';

const MESSAGES = 16;

let server: DevServer;

beforeAll(async () => {
  server = await startDevServer({
    dynamicConfig: { 'limit.historyCount.suggestContinueAsNew': 40 },
  });
});

afterAll(() => server.stop());

/** A page, a job and a person in the Temporal UI work on one conversation at the same time. */
test('simultaneous messages, answers and queries, by update and by signal, leave runs that can be replayed', {
  ...promise('G14'),
  timeout: patient(240_000),
}, async () => {
  const engine = await startEngine({
    agents: [shop(refundsOnOdd, { onBusy: 'queue', whileWaiting: 'block' })],
    services: ledger(),
    address: server.address,
    // Evicts runs from the worker's cache now and then, as in a worker with many conversations.
    tuning: { maxCachedWorkflows: 2 },
  });
  const talk = engine.begin();
  askFromOutside(engine, engine.workflowId(talk));
  const workflow = engine.temporal.workflow.getHandle(engine.workflowId(talk));
  const approve = async (number: number): Promise<void> => {
    const toolCallId = `refund_${number}`;
    const target = { conversationId: talk.id, toolCallId };
    for (;;) {
      const bySignal = workflow.signal(SIGNALS.resolveToolCall, {
        toolCallId,
        resolution: { type: 'approve' },
        actor: { id: 'job' },
        requestId: randomUUID(),
      });
      const byUpdate = [engine.client, engine.bareClient].map(async (client) => {
        const verdict = await client.resolve(target, { type: 'approve' });
        return (await verdict.final({ timeout: '60s' })).verdict;
      });
      const [, ...verdicts] = await Promise.all([bySignal, ...byUpdate]);
      if (!verdicts.includes('unknown')) return;
      // An approval that came too early is repeated, slowly enough that the server can do other work.
      await sleep(50);
    }
  };
  await engine.send(talk, '0');
  const work: Promise<unknown>[] = [];
  const say = async (text: string, requestId: string): Promise<unknown> => {
    for (;;)
      try {
        return await talk.send(text, { requestId });
      } catch (error) {
        // A message without confirmation is repeated under its request id.
        if (!ConversationError.isInstance(error) || error.code !== 'temporal_unreachable')
          throw error;
      }
  };
  for (let number = 1; number < MESSAGES; number += 1) {
    const text = String(number);
    const message = { text, requestId: `m${number}`, actor: { id: 'job' } };
    if (number % 3 === 0) work.push(workflow.signal(SIGNALS.sendMessage, message));
    else work.push(say(text, `m${number}`));
    if (number % 2 === 1) work.push(approve(number));
  }
  await Promise.all(work);
  await engine.idle(talk);
  const log = await engine.log(talk);
  expect(log.filter(({ type }) => type === 'turn_ended')).toHaveLength(MESSAGES);
  expect(log.filter(({ type }) => type === 'tool_result')).toHaveLength(MESSAGES / 2);

  const bundle = { code: await bundleFromSource() };
  const workflowId = engine.workflowId(talk);
  for (const runId of await engine.history.runs(workflowId)) {
    expect(await engine.history.failedTasks(workflowId, runId)).toEqual([]);
    const events = await engine.history.events(workflowId, runId);
    await replayAll(bundle, [{ workflowId, history: { events } }]);
  }
});
