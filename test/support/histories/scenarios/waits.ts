/**
 * Conversations parked in each kind of wait, and the inputs after these waits, as they are recorded as histories.
 */
import { expect } from 'vitest';
import { z } from 'zod';
import type { AgentSettingsSpec } from '../../../../src/define/agent/settings.js';
import { defineAgent } from '../../../../src/define/define-agent.js';
import { defineTool } from '../../../../src/define/define-tool.js';
import type { AnyTool } from '../../../../src/define/tool/types.js';
import { calls, callsAll, says, script } from '../../../../src/model/scripted/scripted.js';
import type { Model } from '../../../../src/protocol/model/model.js';
import type { Services } from '../../engine/agents.js';
import type { Engine } from '../../engine/engine.js';
import { type Scenario, sees, type Talk } from './scenario.js';

const base = { description: 'Does its work.', input: z.object({}) };
const lookUp = { ...base, name: 'projects.find', executor: 'external' } as const;
const transfer = defineTool({ ...base, name: 'transfer', approval: 'required', run: () => 'paid' });

const agentOf =
  (tools: readonly AnyTool[], settings: AgentSettingsSpec = {}) =>
  (model: Model) =>
    defineAgent<Services>({
      name: 'shop',
      instructions: 'Help.',
      model,
      tools: tools as readonly (typeof transfer)[],
      settings,
    });

/** Another backend answers too late; one call gets no answer in time. */
async function answersLater(engine: Engine, talk: Talk): Promise<void> {
  await sees(engine, talk, 'turn_ended', 1);
  const late = await talk.resolve('call_1', { type: 'result', value: 'bob' });
  expect(late.verdict).toBe('accepted_late');
  await sees(engine, talk, 'turn_ended', 2);
  const detached = await talk.resolve('call_2', { type: 'result', value: 700 });
  expect(detached.verdict).toBe('accepted');
  await sees(engine, talk, 'turn_ended', 3);
  await engine.idle(talk);
}

/** The message waits for none of the calls of the step, though they become pending one after the other. */
async function doesNotWait(engine: Engine, talk: Talk): Promise<void> {
  await engine.say(talk, 'What does it cost?');
  await engine.idle(talk);
  const pending = await talk.pending();
  expect(pending.map(({ detached }) => detached)).toEqual([true, true]);
  await talk.resolve('call_2', { type: 'approve' });
  await sees(engine, talk, 'turn_ended', 2);
  await engine.idle(talk);
}

async function losesItsWorker(engine: Engine, talk: Talk): Promise<void> {
  await engine.stopWorker();
  await engine.startWorker();
  await sees(engine, talk, 'suspension', 1);
  expect(await talk.pending()).toMatchObject([{ kind: 'outcome' }]);
}

/** The event that comes in the last step of the turn begins a turn of its own. */
async function getsAnEventInTheLastStep(engine: Engine, talk: Talk): Promise<void> {
  await sees(engine, talk, 'suspension', 1);
  await engine.signal(talk, 'inboxEvent', { eventId: 'e-1', kind: 'note', payload: 1 });
  await sees(engine, talk, 'inbox_event', 1);
  await talk.resolve('call_1', { type: 'approve' });
  await sees(engine, talk, 'turn_ended', 2);
  await engine.idle(talk);
}

/** The event that comes before the turn is stopped begins a turn of its own. */
async function isStoppedAfterAnEvent(engine: Engine, talk: Talk): Promise<void> {
  await sees(engine, talk, 'suspension', 1);
  await engine.signal(talk, 'inboxEvent', { eventId: 'e-1', kind: 'note', payload: 1 });
  await sees(engine, talk, 'inbox_event', 1);
  await talk.cancel();
  await sees(engine, talk, 'turn_ended', 2);
  await engine.idle(talk);
}

export const SCENARIOS_OF_WAITS: readonly Scenario[] = [
  {
    name: 'parked-on-an-approval',
    model: () => script(calls('payments.refund', { paymentId: 'p1', cents: 900 })),
  },
  { name: 'parked-on-a-question', model: () => script(calls('customer.ask', { question: 'A?' })) },
  {
    name: 'an-event-in-the-last-step-of-a-turn',
    model: () => script(calls('transfer', {}), says('noted')),
    agent: agentOf([transfer], { maxSteps: 1, whileWaiting: 'block' }),
    play: getsAnEventInTheLastStep,
  },
  { name: 'parked-on-a-browser-call', model: () => script(calls('cart.read', {})) },
  {
    name: 'parked-on-the-second-phase-of-a-gated-browser-call',
    model: () => script(calls('cart.clear', { reason: 'sold out' })),
    play: async (engine, talk) => {
      await talk.resolve('call_1', { type: 'approve' });
      await sees(engine, talk, 'suspension', 2);
    },
  },
  {
    name: 'parked-after-a-reverted-answer',
    model: () => script(calls('customer.code', {})),
    play: async (engine, talk) => {
      await talk.resolve('call_1', { type: 'answer', value: { code: 'abc' } });
      await engine.reaches(talk, 'awaiting_input');
    },
  },
  {
    name: 'parked-on-an-external-call',
    model: () => script(calls('projects.find', {})),
    agent: agentOf([defineTool({ ...lookUp, timeouts: { answer: '1 day' } })]),
  },
  {
    name: 'parked-on-an-unknown-outcome',
    model: () => script(calls('refund', {})),
    agent: agentOf([
      defineTool({
        ...base,
        name: 'refund',
        effects: 'once',
        onOutcomeUnknown: 'hold',
        run: async (_input, { signal }) => {
          await new Promise((resolve) => {
            signal.addEventListener('abort', resolve);
          });
        },
      }),
    ]),
    runsOn: 'tool_call',
    play: losesItsWorker,
  },
  {
    name: 'parked-on-the-approval-of-a-prepared-browser-call',
    model: () => script(calls('cart.show', {})),
    agent: agentOf([
      defineTool({
        ...base,
        name: 'cart.show',
        executor: 'client',
        approval: 'required',
        preflight: () => ({ shown: ['tea'] }),
      }),
    ]),
  },
  {
    name: 'answered-after-the-deadline-and-after-the-turn',
    model: () =>
      script(
        callsAll([
          { name: 'projects.find', input: {} },
          { name: 'credit.report', input: {} },
        ]),
        ...[says('not known yet'), says('it is bob'), says('and 700')],
      ),
    agent: agentOf([
      defineTool({ ...lookUp, timeouts: { answer: '500ms' } }),
      defineTool({ ...base, name: 'credit.report', executor: 'external', mode: 'detach' }),
    ]),
    play: answersLater,
  },
  {
    name: 'stopped-with-an-event-in-its-inbox',
    model: () => script(calls('transfer', {}), says('noted')),
    agent: agentOf([transfer], { whileWaiting: 'block' }),
    play: isStoppedAfterAnEvent,
  },
  {
    name: 'a-message-while-calls-wait',
    model: () =>
      script(
        callsAll([
          { name: 'transfer', input: {} },
          { name: 'transfer', input: {} },
        ]),
        ...[says('nothing'), says('one is paid')],
      ),
    agent: agentOf([transfer], { toolExecution: 'sequential' }),
    play: doesNotWait,
  },
];
