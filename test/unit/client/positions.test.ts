/** Positions, dates, tenants and actors that callers without types give: refused by their field, or taken as absent. */
import { describe, expect, it } from 'vitest';
import { stampActor } from '../../../src/client/api/checks.js';
import type { ConversationError } from '../../../src/client/api/errors.js';
import type { EventsOptions } from '../../../src/client/api/types.js';
import type { Actor } from '../../../src/protocol/values/actors.js';
import { StoreUnavailable } from '../../../src/store/ports/log.js';
import { FakeReader } from '../../support/fakes/fake-reader.js';
import { failureOf, setUp } from '../../support/fakes/scripted-client.js';
import { CALL, sampleLog } from '../../support/samples/sample-log.js';

const REF = { conversationId: 'c-1', toolCallId: CALL };
const CURSORS = ['1-5', 5, null, {}, { generation: 1, seq: 1.5 }, { generation: 1, seq: -5 }];

function reading() {
  const reader = new FakeReader();
  reader.add('c-1', sampleLog('c-1'));
  return setUp({}, { reader }).conversation;
}

const fieldsOf = ({ code, problems }: ConversationError) => [code, problems?.map((p) => p.path)];

describe('reading a log', () => {
  it.each([0, -1, 2.5, Infinity, Number.NaN, '3', null])(
    'a page of %s events is refused by its field',
    async (limit) => {
      const given = { limit } as EventsOptions;
      const error = await failureOf(reading().events(given));
      expect(fieldsOf(error)).toEqual(['invalid_request', ['/limit']]);
    },
  );

  it.each(CURSORS)('the position %j is refused by its field', async (cursor) => {
    const conversation = reading();
    const after = { after: cursor } as EventsOptions;
    const before = { before: cursor } as EventsOptions;
    const subscribed = conversation.subscribe(after)[Symbol.asyncIterator]();
    for (const [call, path] of [
      [conversation.events(after), '/after'],
      [conversation.events(before), '/before'],
      [subscribed.next(), '/after'],
    ] as const)
      expect(fieldsOf(await failureOf(call))).toEqual(['invalid_request', [path]]);
  });

  it('the cursor of a page is a position, and so is the end', async () => {
    const conversation = reading();
    const { cursor } = await conversation.events({ limit: 3 });
    expect((await conversation.events({ after: cursor, limit: 1_000 })).events[0]?.seq).toBe(4);
    expect((await conversation.events({ before: 'end', limit: 1 })).events).toHaveLength(1);
    // A page has a bound of its own.
    expect((await conversation.events({ limit: 5_000 })).events[0]?.seq).toBe(1);
  });

  it('of a store that is down, a subscription rejects with its code', async () => {
    const reader = Object.assign(new FakeReader(), {
      watch: () => {
        throw new StoreUnavailable('the disk is gone');
      },
    });
    const { conversation } = setUp({}, { reader });
    const error = await failureOf(conversation.subscribe()[Symbol.asyncIterator]().next());
    expect(error).toMatchObject({ code: 'store_unavailable', message: 'the disk is gone' });
  });
});

describe('naming a call', () => {
  it('a tenant without a value is that of the client', async () => {
    const { client, calls } = setUp({
      update: () => ({ verdict: 'accepted', toolCallId: CALL, seq: 6 }),
    });
    const target = { ...REF, tenant: undefined } as never;
    expect(await client.resolve(target, { type: 'approve' })).toMatchObject({
      verdict: 'accepted',
    });
    expect(calls[0]?.workflowId).toBe('conversation:default:c-1');
  });

  it.each<[string, object, RegExp]>([
    ['a date that is none', { until: new Date('next week') }, /valid date/],
    ['two ends', { by: '1 minute', until: new Date() }, /together with by/],
    ['no end', {}, /must be given/],
  ])('an extension with %s is refused by its field', async (_what, options, rule) => {
    const { client, calls } = setUp({});
    const error = await failureOf(client.extend(REF, options));
    expect(fieldsOf(error)).toEqual(['invalid_request', ['/until']]);
    expect(error.message).toMatch(rule);
    expect(calls).toEqual([]);
  });
});

describe('naming an actor', () => {
  it.each([
    ['a user of a chat', { id: 'ann', channel: 'C024BE91L', verified: true }, true, 'client'],
    ['an object without a stamp', { id: 'ann', channel: 'api' }, true, 'client'],
    ['one that is stamped', { id: 'ann', channel: 'api', verified: false }, false, 'api'],
  ])('%s keeps or gets its stamp', (_who, actor, verified, channel) => {
    expect(stampActor(actor as Actor, 'client')).toEqual({ id: 'ann', verified, channel });
  });
});
