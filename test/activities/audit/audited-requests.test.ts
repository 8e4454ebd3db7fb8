/** Requests of model calls, found again in the audit that a worker has stored. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { createActivities } from '../../../src/activities/index.js';
import { defineAgent } from '../../../src/define/define-agent.js';
import { ModelFailure } from '../../../src/model/shared/failure.js';
import { auditedRequest } from '../../../src/projection/model-calls/audited.js';
import { auditText } from '../../../src/protocol/model/audits.js';
import type { ModelResponse } from '../../../src/protocol/model/model.js';
import { openSqliteStores } from '../../../src/store/sqlite/event-log.js';
import { promise } from '../../support/promise.js';
import { answer, environment, key, modelInput, modelOf } from '../tools/fixtures.js';

async function setUp(generate: Parameters<typeof modelOf>[0]) {
  const { log, blobs } = await openSqliteStores({ file: ':memory:' });
  onTestFinished(() => log.close());
  const quiet = () => undefined;
  const activities = createActivities({
    agents: [defineAgent({ name: 'support', model: modelOf(generate), instructions: 'Help.' })],
    services: undefined,
    restoreState: () => Promise.reject(new Error('no store')),
    flush: () => Promise.reject(new Error('no store')),
    publish: quiet,
    blobs,
    audit: 'full',
    logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
  });
  const found = async (attempt = 1, turnId = 'turn_1') =>
    await auditedRequest(blobs, key, { turnId, step: 2, attempt, at: new Date().toISOString() });
  return { activities, blobs, found };
}

const said = (text: string): ModelResponse => answer({ parts: [{ type: 'text', text }] });
const put = (text: string) => ({ type: 'application/json' as const, content: Buffer.from(text) });

describe('an audited request', promise('G397'), () => {
  it('is found by turn, step and attempt, whole, among other values of the conversation', async () => {
    const { activities, blobs, found } = await setUp(() => Promise.resolve(said('Hi.')));
    for (let n = 0; n < 5; n += 1) await blobs.put(key, put(`{"n":${n}}`));
    expect(await found()).toBeUndefined();
    await environment().run(activities.callModel, modelInput());
    expect(await found()).toMatchObject({
      system: 'Help.',
      tools: [],
      messages: [{ role: 'user', parts: [{ text: 'Hi' }] }],
    });
    expect([await found(2), await found(1, 'turn_2')]).toEqual([undefined, undefined]);
    const other = { tenant: 'acme', conversationId: 'c-1' };
    const wanted = { turnId: 'turn_1', step: 2, attempt: 1, at: new Date().toISOString() };
    expect(await auditedRequest(blobs, other, wanted)).toBeUndefined();
  });

  it('of a failed attempt is found, too', async () => {
    const failure = new ModelFailure('model_rate_limited', 'no', { retryable: true });
    const { activities, found } = await setUp(() => Promise.reject(failure));
    await expect(environment().run(activities.callModel, modelInput())).rejects.toThrow();
    expect(await found()).toMatchObject({ system: 'Help.' });
  });

  it('is never the result of a tool that resembles one', async () => {
    const { blobs, found } = await setUp(() => Promise.resolve(said('Hi.')));
    const call = { turnId: 'turn_1', step: 2, attempt: 1, purpose: 'answer', outcome: 'answered' };
    const forged = { call, request: { messages: [], system: 'forged' } };
    await blobs.put(key, put(JSON.stringify(forged)));
    expect(await found()).toBeUndefined();
    await blobs.put(key, put(auditText(call, { request: { messages: [], system: 'audited' } })));
    expect(await found()).toMatchObject({ system: 'audited' });
  });
});
