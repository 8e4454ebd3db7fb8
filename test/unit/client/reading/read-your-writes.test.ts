import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { ReadYourWrites } from '../../../../src/client/reading/read-your-writes.js';
import { FakeReader } from '../../../support/fakes/fake-reader.js';
import { setUp } from '../../../support/fakes/scripted-client.js';
import { patient } from '../../../support/patience.js';
import { CALL, sampleLog, TURN } from '../../../support/samples/sample-log.js';
import { until } from '../../../support/until.js';

const key = (conversationId: string) => ({ tenant: 'default', conversationId });
const accepted = () => ({ verdict: 'accepted', toolCallId: CALL, seq: 6 });

describe.concurrent('a reply that a client has had', () => {
  it('keeps a call that the client has just answered from being reported as pending, by any object', async () => {
    const reader = new FakeReader();
    reader.add('c-1', sampleLog('c-1').slice(0, 5));
    const { client } = setUp({ update: accepted }, { reader });
    const turn = client.turn('c-1', TURN);
    expect(await turn.result()).toMatchObject({ status: 'waiting', seq: 5 });
    await client.resolve(`default~c-1~${CALL}`, { type: 'answer', value: 'the first' });
    const result = turn.result({ timeout: '20s' });
    reader.add('c-1', sampleLog('c-1').slice(5));
    expect(await result).toMatchObject({ status: 'completed' });
  });

  it('counts however far the store lags behind, as long as the workflow has recorded it', async () => {
    const reader = new FakeReader();
    reader.add('c-1', sampleLog('c-1').slice(0, 5));
    reader.unstored.set('c-1', sampleLog('c-1').slice(5));
    const { client } = setUp({ update: accepted }, { reader });
    await client.resolve(`default~c-1~${CALL}`, { type: 'answer', value: 'the first' });
    const result = client.turn('c-1', TURN).result({ timeout: '20s' });
    await until('the workflow is asked', () => reader.asked.length > 0);
    expect(reader.asked).toEqual([6]);
    reader.unstored.clear();
    reader.add('c-1', sampleLog('c-1').slice(5));
    expect(await result).toMatchObject({ status: 'completed' });
  });

  it('is waited for within the time of the caller, also where the workflow does not answer', {
    concurrent: false,
  }, async () => {
    const reader = new FakeReader();
    reader.add('c-1', sampleLog('c-1').slice(0, 5));
    const { client } = setUp({ update: accepted }, { reader });
    const snapshot = reader.snapshot.bind(reader);
    reader.snapshot = async (key, options) => {
      if (options?.atLeastSeq === undefined) return await snapshot(key);
      await sleep(1_500);
      throw new Error('no worker answers');
    };
    await client.resolve(`default~c-1~${CALL}`, { type: 'answer', value: 'the first' });
    const begun = performance.now();
    const result = await client
      .turn('c-1', TURN)
      .result({ timeout: '3s', returnWhenWaiting: false });
    expect(result).toMatchObject({ status: 'timeout' });
    expect(performance.now() - begun).toBeLessThan(patient(4_000));
  });

  it('may come from another process, as a seq', async () => {
    const reader = new FakeReader();
    reader.add('c-1', sampleLog('c-1').slice(0, 5));
    const { client } = setUp({}, { reader });
    const result = client.turn('c-1', TURN).result({ timeout: 50, atLeastSeq: 6 });
    expect(await result).toEqual({ status: 'timeout', turnId: TURN });
  });

  it('does not hide the events after a reset for good', async () => {
    const reader = new FakeReader();
    reader.add('c-1', sampleLog('c-1').slice(0, 5));
    const { client } = setUp({}, { reader });
    const result = client.turn('c-1', TURN).result({ timeout: '20s', atLeastSeq: 99 });
    expect(await result).toMatchObject({ status: 'waiting', seq: 5 });
  });

  it('holds for snapshots of every object of the client', async () => {
    const reader = new FakeReader();
    reader.add('c-1', sampleLog('c-1'));
    const script = {
      update: ({ name }: { name: string }) =>
        name === 'cancelTurn' ? { cancelled: true, seq: 7 } : { closed: true, seq: 10 },
    };
    const { client } = setUp(script, { reader });
    await client.conversation('c-1').snapshot();
    await client.cancel('c-1');
    await client.conversation('c-1').snapshot();
    await client.conversation('c-1').close();
    await client.conversation('c-1').snapshot();
    await client.conversation('c-1').snapshot({ atLeastSeq: 12 });
    expect(reader.asked).toEqual([1, 7, 10, 12]);
  });

  it('is not waited for again where the workflow has a shorter log: another one, or one that was reset', async () => {
    const reader = new FakeReader();
    reader.add('c-1', sampleLog('c-1').slice(0, 3));
    const { client } = setUp({ update: () => ({ cancelled: true, seq: 30 }) }, { reader });
    await client.cancel('c-1');
    expect((await client.conversation('c-1').snapshot()).seq).toBe(3);
    await client.conversation('c-1').snapshot();
    expect(reader.asked).toEqual([30, 3]);
  });

  it('counts also where it comes while a shorter log is read', async () => {
    const known = new ReadYourWrites();
    known.note(key('a'), 30);
    const snapshot = (_: unknown, options: { answered?: (seq: number) => void } = {}) => {
      known.note(key('a'), 31);
      options.answered?.(3);
      return Promise.resolve(undefined);
    };
    await known.snapshot({ snapshot }, key('a'));
    expect(known.of(key('a'))).toBe(31);
  });

  it('is forgotten with its tenant, although another process has deleted the conversation', async () => {
    const reader = new FakeReader();
    const none = () => Promise.resolve();
    async function* nothing() {}
    const deletions = { removeOfTenant: none, ofTenant: nothing } as never;
    const script = { update: () => ({ cancelled: true, seq: 30 }) };
    const { client } = setUp(script, { reader, deletions });
    for (const tenant of ['acme', 'acme2']) await client.cancel({ conversationId: 'c-1', tenant });
    await client.deleteTenant('acme');
    reader.add('c-1', sampleLog('c-1').slice(0, 3));
    for (const tenant of ['acme', 'acme2']) await client.conversation('c-1', { tenant }).snapshot();
    expect(reader.asked).toEqual([1, 30]);
  });

  it('never lowers the known seq, however late a reply of a repeat comes', () => {
    const known = new ReadYourWrites();
    known.note(key('a'), 7);
    known.note(key('a'), 3);
    known.note(key('a'), undefined);
    expect([known.of(key('a')), known.of(key('b'))]).toEqual([7, 0]);
  });

  it('is forgotten first for the conversation with the oldest reply', () => {
    const known = new ReadYourWrites(2);
    known.note(key('a'), 1);
    known.note(key('b'), 2);
    known.note(key('a'), 1);
    known.note(key('c'), 3);
    expect(['a', 'b', 'c'].map((id) => known.of(key(id)))).toEqual([1, 0, 3]);
  });
});
