/** A run that was repaired, got code that does not fit once more, and is repaired again while the store is behind. */
import { expect, inject, test } from 'vitest';
import { CompressionCodec } from '../../../src/client/payloads/payload-codec.js';
import { callsAll, says, script } from '../../../src/model/scripted/scripted.js';
import type { EventLog } from '../../../src/store/ports/log.js';
import { applyRepair } from '../../../src/worker/repair/index.js';
import { badBundle } from '../../support/bad-deploys/index.js';
import { ledger, shop } from '../../support/engine/agents.js';
import { CONVERTER, startEngine } from '../../support/engine/engine.js';
import { patient } from '../../support/patience.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';

const refund = (paymentId: string) => ({
  name: 'payments.refund',
  input: { paymentId, cents: 500 },
});

/** The log as a store has it that lacks all events behind this one. */
function behind(log: EventLog, lastSeq: number): EventLog {
  const read: EventLog['read'] = async (key, options) => {
    const page = await log.read(key, options);
    if (page === undefined) return undefined;
    return { ...page, events: page.events.filter(({ seq }) => seq <= lastSeq), more: false };
  };
  return new Proxy(log, {
    get: (target, name): unknown => (name === 'read' ? read : Reflect.get(target, name)),
  });
}

test('a run that is repaired twice knows what tools did before the first repair', {
  ...promise('G21'),
  timeout: patient(180_000),
}, async () => {
  const services = ledger();
  const model = script(callsAll([refund('p1'), refund('p2')]), says('Refunded'));
  const bad = { workflowBundle: await badBundle('starts-more-timers') };
  const good = { workflowBundle: { codePath: inject('workflowBundlePath') } };
  const engine = await startEngine({ agents: [shop(model)], services, tuning: bad });
  const talk = engine.begin();
  const asked = await (await talk.send('refund both')).result({ timeout: '60s' });
  if (asked.status !== 'waiting') throw new Error(`the turn is ${asked.status}`);
  const [first = '', second = ''] = asked.pending.map(({ toolCallId }) => toolCallId);
  const known = (await engine.log(talk)).length;
  const repair = async () => {
    const outcome = await applyRepair(
      {
        temporal: engine.temporal,
        log: behind(engine.opened.log, known),
        replay: { codecs: [new CompressionCodec()], payloadConverterPath: CONVERTER, ...good },
      },
      { tenant: 'default', conversationId: talk.id },
    );
    if (outcome.status !== 'reset') throw new Error(`the repair is ${outcome.status}`);
    return outcome;
  };
  await (await talk.resolve(first, { type: 'approve' })).final({ timeout: '60s' });
  await until('the first tool has ended', () => engine.logTypes(talk), {
    holds: (types) => types.includes('tool_result'),
  });
  await engine.stopWorker();
  expect((await repair()).entries.map(({ type }) => type)).toContain('ended');

  const queued = await talk.resolve(second, { type: 'approve' });
  expect(queued).toMatchObject({ verdict: 'queued' });
  await engine.startWorker(bad);
  await engine.idle(talk);
  await engine.stopWorker();
  const again = await repair();
  expect(again.activities.map(({ activityId, becomes }) => [activityId, becomes])).toEqual([
    [`tool:payments.refund:${first}`, 'recorded'],
    [`tool:payments.refund:${second}`, 'recorded'],
    [expect.stringMatching(/^model:/), 'recorded'],
  ]);

  await engine.startWorker(good);
  await engine.idle(talk);
  expect(services.runs.map(({ input }) => input)).toEqual(
    ['p1', 'p2'].map((paymentId) => expect.objectContaining({ paymentId }) as unknown),
  );
  expect(await engine.snapshot(talk)).toMatchObject({ status: 'idle', pending: [] });
});
