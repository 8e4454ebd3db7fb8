import { WorkflowNotFoundError } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import { noAnswer, refusal } from '../../../support/fakes/fake-temporal.js';
import { failureOf, setUp } from '../../../support/fakes/scripted-client.js';
import { TURN } from '../../../support/samples/sample-log.js';

const REPLY = { turnId: TURN, messageId: 'm_1', seq: 2, ahead: 0 };

describe('a message to a conversation that this client has written to', () => {
  const started = { updateWithStart: () => REPLY };

  it('is a plain update: the client reads nothing first, and cannot start a run', async () => {
    const { conversation, calls } = setUp({ ...started, update: () => REPLY });
    await conversation.send('Hello');
    expect(await conversation.send('And then?')).toMatchObject({ ...REPLY, duplicate: false });
    expect(calls.map((call) => call.kind)).toEqual(['updateWithStart', 'update']);
  });

  it('starts it again where Temporal has lost it', async () => {
    const { conversation, calls } = setUp({
      ...started,
      update: () => {
        throw new WorkflowNotFoundError('gone', 'conversation:default:c-1', undefined);
      },
    });
    await conversation.send('Hello');
    expect(await conversation.send('And then?')).toMatchObject({ status: 'admitted' });
    expect(calls.map((call) => call.kind)).toEqual([
      'updateWithStart',
      'update',
      'updateWithStart',
    ]);
  });

  it('is refused by a closed conversation, unless it may open it again', async () => {
    const { conversation } = setUp({
      ...started,
      update: () => {
        throw refusal('conversation_closed', { message: 'closed' });
      },
    });
    await conversation.send('Hello');
    expect(await failureOf(conversation.send('And then?'))).toMatchObject({
      code: 'conversation_closed',
    });
    expect(await conversation.send('And then?', { reopen: true })).toMatchObject(REPLY);
  });

  it('is answered as a repeat, and left as a signal when no worker answers', async () => {
    let answer = (): unknown => {
      throw refusal('duplicate', REPLY);
    };
    const { conversation, calls } = setUp({
      ...started,
      update: () => answer(),
      signalWithStart: () => undefined,
    });
    await conversation.send('Hello');
    expect(await conversation.send('Hello')).toMatchObject({ ...REPLY, duplicate: true });
    answer = () => {
      throw noAnswer();
    };
    expect(await conversation.send('And then?')).toMatchObject({ status: 'queued' });
    const left = () => calls.findLast(({ kind }) => kind !== 'describe');
    const onBusy = (): unknown => left()?.input;
    expect(left()).toMatchObject({ kind: 'signalWithStart' });
    expect(onBusy()).toMatchObject({ onBusy: 'queue', ifRejected: true });
    await conversation.send('In your own time', { onBusy: 'queue' });
    expect(onBusy()).not.toHaveProperty('ifRejected');
  });
});
