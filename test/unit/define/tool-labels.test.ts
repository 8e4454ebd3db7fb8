/** `title` and `risk` of a tool: for people who decide about its calls, from the definition to the pending call. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { agentTool, defineAgent, defineTool, handoffTool } from '../../../src/index.js';
import { calls, says, script } from '../../../src/model/scripted/scripted.js';
import { testConversation } from '../../../src/testing/test-conversation.js';
import { detailsText } from '../../../src/workflows/handlers/page.js';
import { gatedCall, modelCalls } from '../../support/builders/core-builders.js';
import { aMachineWith } from '../../support/schedules/core-driver.js';
import { defineUntyped, expectFault, type Fault } from './tool/faults.js';

const LABELS = { title: 'Refund a payment', risk: 'high' } as const;
const base = {
  name: 'refund',
  description: 'Refunds.',
  input: z.object({}),
  run: () => 'done',
};

function agentOf(labels: object, model = script()) {
  const refund = defineTool({ ...base, approval: 'required', ...labels });
  return defineAgent({ name: 'shop', model, instructions: 'Help.', tools: [refund] });
}

async function waitingWith(labels: object) {
  const model = script(calls('refund', {}), says('Done.'));
  const t = testConversation(agentOf(labels, model));
  await t.send('refund it');
  return t;
}

describe('title and risk of a tool', () => {
  it('are shown with its calls that wait', async () => {
    const t = await waitingWith(LABELS);
    expect(t.pending).toMatchObject([{ name: 'refund', ...LABELS }]);
    expect(t.events.find(({ type }) => type === 'suspension')).toMatchObject({
      suspension: LABELS,
    });
  });

  it('are no fields of calls whose tool declares none', async () => {
    const t = await waitingWith({});
    const [call] = t.pending;
    expect(call).not.toHaveProperty('title');
    expect(call).not.toHaveProperty('risk');
    expect(JSON.stringify(t.events)).not.toMatch(/"(?:title|risk)"/);
  });

  it('stand on the page of the Temporal UI', () => {
    const m = aMachineWith(modelCalls([{ ...gatedCall('c'), ...LABELS }]));
    expect(detailsText(m.state, { namespace: 'default' })).toContain(
      '**approval** of `server.tool`, `Refund a payment`, high risk, call `c`',
    );
  });

  it.each(['server', 'human', 'client', 'external', 'internal'])(
    'belong to a tool with executor %s',
    (executor) => {
      const { run, ...rest } = base;
      const spec = { ...rest, executor, ...LABELS, ...(executor === 'server' ? { run } : {}) };
      expect(defineUntyped(spec)).toMatchObject(LABELS);
    },
  );

  it('belong to a tool that another agent runs, or that passes the conversation on', () => {
    const other = agentOf({});
    expect(agentTool(other, { name: 'ask', description: 'Asks.', ...LABELS })).toMatchObject(
      LABELS,
    );
    expect(handoffTool(other, { name: 'go', description: 'Goes.', ...LABELS })).toMatchObject(
      LABELS,
    );
  });

  it.each<Fault>([
    ['an empty title', { ...base, title: '' }, 'title', /1 to 120 characters on one line/],
    ['a blank title', { ...base, title: '  ' }, 'title', /1 to 120 characters/],
    ['a title of two lines', { ...base, title: 'a\nb' }, 'title', /on one line/],
    ['a title that is too long', { ...base, title: 'x'.repeat(121) }, 'title', /1 to 120/],
    ['a title that is no text', { ...base, title: 7 }, 'title', /must be a text/],
    ['an unknown risk', { ...base, risk: 'extreme' }, 'risk', /low, medium, high/],
    ['a risk that is no text', { ...base, risk: 3 }, 'risk', /low, medium, high/],
  ])('refuse %s', (...fault) => {
    expectFault(fault);
  });
});
