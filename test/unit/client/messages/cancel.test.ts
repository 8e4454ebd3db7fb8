/** Stops that a client sends: each stops a turn, or says that it did not; none is sent that would do neither. */
import { describe, expect, it } from 'vitest';
import type { CancelOptions } from '../../../../src/client/index.js';
import { REUSED } from '../../../../src/protocol/values/ids.js';
import { noAnswer, refusal } from '../../../support/fakes/fake-temporal.js';
import { failureOf, setUp } from '../../../support/fakes/scripted-client.js';
import { promise } from '../../../support/promise.js';
import { TURN } from '../../../support/samples/sample-log.js';

const LONE = JSON.parse('"\\ud800"') as string;

describe('a stop', () => {
  it.each<[string, unknown, string]>([
    ['a text', 'stop', ''],
    ['null', null, ''],
    ['a list', [TURN], ''],
    ['a number as the turn', { turnId: 7 }, '/turnId'],
    ['an empty turn', { turnId: '' }, '/turnId'],
    ['null as the turn', { turnId: null }, '/turnId'],
    ['a misspelt field', { turnID: TURN }, '/turnID'],
    ['a reason that is no text', { reason: { text: 'no' } }, '/reason'],
    ['a reason that UTF-8 cannot hold', { reason: LONE }, '/reason'],
    ['an empty request id', { requestId: '' }, '/requestId'],
    ['an actor without an id', { actor: {} }, '/actor/id'],
  ])(
    'with %s is refused by its field, with a worker or without one',
    promise('G332'),
    async (...[, options, path]) => {
      for (const update of [() => ({ cancelled: true, turnId: TURN, seq: 7 }), noAnswer]) {
        const { conversation, calls } = setUp({ update });
        const error = await failureOf(conversation.cancel(options as CancelOptions));
        expect(error).toMatchObject({ code: 'invalid_request', problems: [{ path }] });
        expect(calls).toEqual([]);
      }
    },
  );

  it(
    'of a turn, under the id of a stop of another turn, is refused by the id',
    promise('G37'),
    async () => {
      const { conversation } = setUp({
        update: () => {
          throw refusal('invalid_request', {
            message: 'The cancel breaks a rule',
            problems: [REUSED],
          });
        },
      });
      const requestId = 'stop-1';
      const error = await failureOf(conversation.cancel({ requestId, turnId: 'turn_abc_2' }));
      const message = expect.stringContaining('was used before') as string;
      expect(error).toMatchObject({
        ...{ code: 'invalid_request', httpStatus: 422 },
        problems: [{ path: '/requestId', message }],
      });
    },
  );

  it('of the running turn needs no options', async () => {
    const { conversation, calls } = setUp({
      update: () => ({ cancelled: true, turnId: TURN, seq: 7 }),
    });
    expect(await conversation.cancel()).toMatchObject({ status: 'done', cancelled: true });
    expect(await conversation.cancel({ turnId: undefined, reason: undefined })).toMatchObject({
      cancelled: true,
    });
    expect(calls.map(({ input }) => Object.keys(input as object).sort())).toEqual([
      ['actor', 'requestId'],
      ['actor', 'requestId'],
    ]);
  });
});
