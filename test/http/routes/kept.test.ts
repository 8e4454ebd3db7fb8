/** The memory of a conversation, over HTTP: remembered decisions, and states of plugins. */
import { expect, it } from 'vitest';
import type { CanonicalEvent } from '../../../src/protocol/log/events.js';
import { refusal } from '../../support/fakes/fake-temporal.js';
import { promise } from '../../support/promise.js';
import { sampleLog } from '../../support/samples/sample-log.js';
import { startHttpApp } from '../../support/servers/http-app.js';

const RULES = '/v1/conversations/c-1/rules';

it('lists the rules of a conversation', async () => {
  const app = await startHttpApp();
  app.reader.add('c-1', sampleLog('c-1').slice(0, 5));
  expect(await (await app.request(RULES)).json()).toEqual({ rules: [], seq: 5 });
  const remembered: CanonicalEvent = {
    type: 'rule_remembered',
    seq: 6,
    at: '2026-01-01T00:00:06.000Z',
    rule: {
      ruleId: 'rule_1',
      tool: 'pay',
      decision: 'approve',
      for: 'conversation',
      actor: { id: 'cleo', verified: true, channel: 'api' },
    },
  };
  app.reader.add('c-1', [remembered]);
  expect(await (await app.request(RULES)).json()).toMatchObject({
    rules: [{ ruleId: 'rule_1', tool: 'pay', decision: 'approve', at: remembered.at }],
    seq: 6,
  });
});

it('revokes a rule once; an unknown one gets a verdict that says so', async () => {
  let known = true;
  const app = await startHttpApp({
    update: () => {
      if (!known) throw refusal('unknown_rule', { message: 'No rule "rule_1"' });
      known = false;
      return { ruleId: 'rule_1', seq: 7 };
    },
  });
  const revoke = async () => await app.request(`${RULES}/rule_1`, { method: 'DELETE' });
  const first = await revoke();
  expect(first.status).toBe(200);
  expect(await first.json()).toMatchObject({ ruleId: 'rule_1', seq: 7 });
  expect(app.calls).toMatchObject([{ name: 'revokeRule', input: { ruleId: 'rule_1' } }]);
  const second = await revoke();
  expect(second.status).toBe(404);
  expect(await second.json()).toMatchObject({ code: 'unknown_rule' });
});

const STATES = '/v1/conversations/c-1/plugin-states';
const states = { notes: { version: 1, value: { pages: 2 } } };

it(
  'states of plugins are returned with the seq up to which they count',
  promise('G309'),
  async () => {
    const app = await startHttpApp({
      describe: () => ({ status: { name: 'RUNNING' }, runId: 'run-1' }),
      query: () => ({ hash: 'abc', seq: 5, states }),
    });
    app.reader.add('c-1', sampleLog('c-1').slice(0, 5));
    const response = await app.request(STATES);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ seq: 5, states });
  },
);

it('states of plugins of an unknown conversation are not found', async () => {
  const app = await startHttpApp();
  const response = await app.request(STATES);
  expect(response.status).toBe(404);
  expect(await response.json()).toMatchObject({ code: 'unknown_conversation' });
});
