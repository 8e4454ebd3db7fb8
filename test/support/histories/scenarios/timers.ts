/** Conversations in which a timer of each kind fires: ends of waits and turns, an idle close, a cancel that is slow. */

import { WithStartWorkflowOperation } from '@temporalio/client';
import { expect } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../../../src/define/define-agent.js';
import { defineTool } from '../../../../src/define/define-tool.js';
import { calls, callsAll, says, script } from '../../../../src/model/scripted/scripted.js';
import type { Model } from '../../../../src/protocol/model/model.js';
import { ledger, type Services, shop } from '../../engine/agents.js';
import { startEngine } from '../../engine/engine.js';
import { before, ended, lost, type Recorded, runs, type Scenario, sees } from './scenario.js';

const base = { description: 'Does its work.', input: z.object({}) };

/** The waits end one after the other, on a busy machine too. */
const hasty = (model: Model) =>
  defineAgent<Services>({
    name: 'hasty',
    instructions: 'Help.',
    model,
    tools: [
      defineTool({
        ...base,
        name: 'pay',
        approval: 'required',
        timeouts: { approval: '1s' },
        run: () => 'paid',
      }),
      defineTool({
        ...base,
        name: 'cart.read',
        executor: 'client',
        timeouts: { claim: '2s', answer: '1 hour' },
      }),
      defineTool({
        ...base,
        name: 'projects.find',
        executor: 'external',
        timeouts: { answer: '3s' },
      }),
      defineTool({
        ...base,
        name: 'size.ask',
        executor: 'human',
        timeouts: { answer: '5s' },
        warnBefore: '1s',
        onExpire: { default: 'M' },
      }),
      defineTool({
        ...base,
        name: 'cart.show',
        executor: 'client',
        timeouts: { claim: '4s', answer: '4s' },
      }),
    ],
  });

/** The server admits the run whose first message is refused, and the next message is its first. */
async function begunAfterRefusal(id: string): Promise<Recorded> {
  const engine = await startEngine({
    agents: [shop(script(says('hello')))],
    services: ledger(),
    taskQueue: id,
  });
  const talk = engine.begin(id);
  const settings = { maxSteps: 5, onBusy: 'reject', idleCloseMs: 3_600_000 };
  const startWorkflowOperation = new WithStartWorkflowOperation<(input: unknown) => Promise<void>>(
    'conversation',
    {
      workflowId: engine.workflowId(talk),
      taskQueue: id,
      args: [{ tenant: 'default', conversationId: id, agent: 'shop', settings }],
      workflowIdConflictPolicy: 'USE_EXISTING',
    },
  );
  const refused = engine.temporal.workflow.executeUpdateWithStart('sendMessage', {
    args: [{ text: '  ' }],
    startWorkflowOperation,
  });
  await expect(refused).rejects.toMatchObject({ cause: { type: 'invalid_request' } });
  await engine.say(talk, 'hello');
  return { engine, talk };
}

export const SCENARIOS_OF_TIMERS: readonly Scenario[] = [
  {
    name: 'calls-that-expire',
    model: () =>
      script(
        callsAll(
          ['pay', 'cart.read', 'projects.find', 'size.ask', 'cart.show'].map((name) => ({
            name,
            input: {},
          })),
        ),
        says('no answers'),
      ),
    agent: hasty,
    play: async (engine, talk) => engine.idle(talk),
  },
  {
    name: 'a-turn-out-of-time',
    model: () => script(calls('customer.ask', { question: 'A?' })),
    settings: { budgets: { time: '2s' } },
    play: async (engine, talk) => engine.idle(talk),
  },
  {
    name: 'closed-when-idle',
    model: () => script(says('hello')),
    settings: { idleClose: '1s' },
    play: ended,
  },
  {
    name: 'cancelled-in-the-temporal-ui-while-the-model-answers',
    model: () => script(says('never')),
    heldAt: 'Half a sen',
    play: async (engine, talk) => {
      await engine.handle(talk).cancel();
      await ended(engine, talk);
    },
  },
  {
    name: 'cancelled-in-the-temporal-ui-after-the-worker-was-lost',
    model: () => script(says('never')),
    options: () => ({ tuning: { shutdownGraceTime: 1, interceptors: before('callModel', lost) } }),
    runsOn: 'turn_started',
    play: async (engine, talk) => {
      await runs(engine, talk, 'callModel');
      await engine.handle(talk).cancel();
      await ended(engine, talk);
    },
  },
  {
    name: 'inbox-turns-that-are-held-back',
    model: () => script(calls('rest', {}), says('1'), says('2 and 3')),
    agent: (model) =>
      defineAgent<Services>({
        ...{ name: 'watcher', instructions: 'Watch.', model },
        tools: [defineTool({ ...base, name: 'rest', endsTurn: true, run: () => 'rested' })],
        settings: { inbox: { whileBusy: 'next_turn', rate: { turns: 1, per: '2s' } } },
      }),
    play: async (engine, talk) => {
      for (const n of [1, 2, 3])
        await engine.signal(talk, 'inboxEvent', { eventId: `e-${n}`, kind: 'note', payload: n });
      await sees(engine, talk, 'turn_ended', 3);
      await engine.idle(talk);
    },
  },
  {
    name: 'kept-open-by-an-inbox-that-is-held-back',
    model: () => script(says('hello'), says('1'), says('2')),
    settings: { idleClose: '2s', inbox: { rate: { turns: 1, per: '5s' } } },
    play: async (engine, talk) => {
      for (const n of [1, 2]) {
        await engine.signal(talk, 'inboxEvent', { eventId: `e-${n}`, kind: 'note', payload: n });
        await sees(engine, talk, 'turn_ended', n + 1);
      }
      await ended(engine, talk);
    },
  },
  { name: 'begun-after-a-refused-message', converse: begunAfterRefusal },
];
