import { describe, expect, it } from 'vitest';
import { ConversationClient } from '../../../../src/client/conversation-client.js';
import {
  fakeTemporal,
  grpcError,
  refusal,
  type Script,
} from '../../../support/fakes/fake-temporal.js';
import { promise } from '../../../support/promise.js';
import { CALL, SUPPORT, TURN } from '../../../support/samples/sample-log.js';

const REF = `default~c-1~${CALL}`;
const ANSWER = { type: 'answer', value: 'the first' } as const;

function setUp(script: Script) {
  const temporal = fakeTemporal(script);
  const client = new ConversationClient({ temporal: temporal.client, agents: [SUPPORT] });
  return { client, calls: temporal.calls };
}

describe('a request without an id of its own', () => {
  it('gets the reply of its first attempt, where that reply was lost in a roll-over', {
    ...promise('G36'),
  }, async () => {
    const first = { verdict: 'accepted', toolCallId: CALL, seq: 6 } as const;
    const asked = () => {
      let tries = 0;
      return setUp({
        update: () => {
          tries += 1;
          // The run ended with the task that accepted the request: the server says that it may be tried again.
          if (tries === 1) throw grpcError(10, 'workflow is closing');
          throw refusal('verdict', { verdict: 'duplicate', first });
        },
      });
    };
    const { client, calls } = asked();
    const outcome = await client.resolve(REF, ANSWER);
    expect(outcome).toMatchObject({ ...first, httpStatus: 200 });
    expect(await outcome.final()).toEqual(first);
    expect(calls[1]?.input).toEqual(calls[0]?.input);
    // Another client may have used an id that the caller gave.
    const given = await asked().client.resolve(REF, ANSWER, { requestId: 'r-1' });
    expect(given).toMatchObject({ verdict: 'duplicate', first });
  });

  it('gets the first reply for claims, deadlines and batches, too', promise('G36'), async () => {
    const accepted = { verdict: 'accepted', seq: 6 };
    const { client } = setUp({
      update: () => {
        throw refusal('verdict', { verdict: 'duplicate', first: accepted });
      },
    });
    const talk = client.conversation('c-1');
    const results = [{ toolCallId: CALL, resultJson: '1' }];
    const step = `${TURN}.1`;
    for (const options of [{}, { requestId: 'r-1' }]) {
      const reply = 'requestId' in options ? { verdict: 'duplicate', first: accepted } : accepted;
      expect(await client.claim(REF, options)).toMatchObject(reply);
      expect(await client.extend(REF, { by: '5m', ...options })).toMatchObject(reply);
      expect(await talk.resolveBatch(step, results, options)).toMatchObject(reply);
    }
  });
});
