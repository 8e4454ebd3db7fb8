/** Conversations with each way to send input: batches of results, files, signals, and decisions that are revoked. */
import { expect } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../../../src/define/define-agent.js';
import { defineTool } from '../../../../src/define/define-tool.js';
import { calls, callsAll, says, script } from '../../../../src/model/scripted/scripted.js';
import type { Model } from '../../../../src/protocol/model/model.js';
import type { Services } from '../../engine/agents.js';
import type { Engine } from '../../engine/engine.js';
import { until } from '../../until.js';
import { rollOver, runs, type Scenario, sees, type Talk } from './scenario.js';

const REFUND = { paymentId: 'p1', cents: 900 };
/** The shortest prefix that identifies a PNG. */
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, ...Array(500).keys()]);

const openFile = defineTool({
  name: 'file.open',
  description: 'Opens a file in the editor.',
  executor: 'client',
  input: z.object({ path: z.string() }),
  timeouts: { claim: '30 minutes', answer: '30 minutes' },
  preflight: ({ path }) => ({ uri: `workspace:///${path}` }),
});
const selection = defineTool({
  name: 'selection.read',
  description: 'Reads the selection.',
  executor: 'client',
  input: z.object({}),
  output: z.strictObject({ text: z.string() }),
  timeouts: { claim: '30 minutes', answer: '30 minutes' },
});
/** Runs until its turn is cancelled. */
const watch = defineTool({
  name: 'watch',
  description: 'Watches.',
  input: z.object({}),
  run: async (_input, { signal }) => {
    await new Promise((resolve) => {
      signal.addEventListener('abort', resolve);
    });
  },
});
const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  input: z.object({}),
  effects: 'once',
  approval: 'required',
  run: () => 'paid',
});

const editor = (model: Model) =>
  defineAgent<Services>({
    name: 'editor',
    instructions: 'Help.',
    model,
    tools: [openFile, selection],
  });
const office = (model: Model) =>
  defineAgent<Services>({ name: 'office', instructions: 'Help.', model, tools: [watch, pay] });

/** The prepared payload of the first call is carried over. */
async function resolvedAsBatch(engine: Engine, talk: Talk): Promise<void> {
  await rollOver(engine, talk, 2);
  const stepId = (await engine.snapshot(talk)).turn?.stepId ?? '';
  const results = [
    { toolCallId: 'call_1', resultJson: '"opened"', executionMs: 20 },
    { toolCallId: 'call_2', resultJson: '{"text":"x"}', executionMs: 3 },
  ];
  expect((await talk.resolveBatch(stepId, results)).verdict).toBe('accepted');
  await engine.idle(talk);
}

async function withFiles(engine: Engine, talk: Talk): Promise<void> {
  const blob = await talk.upload(PNG);
  const image = { type: 'image', source: { blob }, mediaType: 'image/png' } as const;
  await engine.say(talk, 'What is this, and what is on the screen?', { attachments: [image] });
  const shot = { type: 'result', value: { items: [] }, files: [image] } as const;
  expect((await talk.resolve('call_1', shot)).verdict).toBe('accepted');
  await engine.idle(talk);
  await rollOver(engine, talk, 2);
  await engine.say(talk, 'And now?');
  await engine.idle(talk);
}

/** The first approval decides the second call, and after its revocation the third call needs one of its own. */
async function revoked(engine: Engine, talk: Talk): Promise<void> {
  await talk.resolve('call_1', { type: 'approve', remember: { for: 'conversation' } });
  await engine.idle(talk);
  await engine.say(talk, 'again');
  const [rule] = await talk.rules();
  await talk.revokeRule(rule?.ruleId ?? '');
  await engine.say(talk, 'once more');
  await talk.resolve('call_3', { type: 'deny', reason: 'enough' });
  await engine.idle(talk);
}

/** Each signal has the effect of the update of the same name. */
async function bySignals(engine: Engine, talk: Talk): Promise<void> {
  const actor = { id: 'ann' };
  const approval = { toolCallId: 'call_1', resolution: { type: 'approve' }, requestId: 'r-1' };
  await engine.signal(talk, 'resolveToolCall', { ...approval, actor });
  await sees(engine, talk, 'turn_ended');
  const payload = { cents: 900 };
  await engine.signal(talk, 'inboxEvent', { eventId: 'e-1', kind: 'payment.settled', payload });
  await sees(engine, talk, 'turn_ended', 2);
  await engine.signal(talk, 'sendMessage', { text: 'Watch it', requestId: 'm-2', actor });
  await runs(engine, talk, 'runTool');
  await engine.signal(talk, 'cancelTurn', { actor });
  await sees(engine, talk, 'turn_ended', 3);
  await until('the tool has stopped', () => engine.history.lines(engine.workflowId(talk)), {
    holds: (lines) => lines.includes('ActivityTaskCanceled'),
  });
  await rollOver(engine, talk, 2);
  await engine.say(talk, 'and on');
  await engine.idle(talk);
}

export const SCENARIOS_OF_INPUTS: readonly Scenario[] = [
  {
    name: 'client-calls-resolved-as-a-batch',
    runs: 2,
    model: () =>
      script(
        callsAll([
          { name: 'file.open', input: { path: 'a.ts' } },
          { name: 'selection.read', input: {} },
        ]),
        says('Read.'),
      ),
    agent: editor,
    play: resolvedAsBatch,
  },
  {
    name: 'files-of-messages-and-results',
    runs: 2,
    model: () => script(says('hello'), calls('cart.read', {}), says('A picture.'), says('Two.')),
    play: withFiles,
  },
  {
    name: 'a-remembered-decision-revoked',
    model: () =>
      script(
        ...[calls('payments.refund', REFUND), says('one')],
        ...[calls('payments.refund', REFUND), says('two')],
        ...[calls('payments.refund', REFUND), says('refused')],
      ),
    play: revoked,
  },
  {
    name: 'signals-of-every-kind',
    runs: 2,
    model: () =>
      script(calls('pay', {}), says('paid'), says('noted'), calls('watch', {}), says('on')),
    agent: office,
    play: bySignals,
  },
];
