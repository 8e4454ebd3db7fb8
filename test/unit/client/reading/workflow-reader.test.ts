import { WorkflowNotFoundError } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import { ConversationClient } from '../../../../src/client/conversation-client.js';
import { foldView } from '../../../../src/core/view/view.js';
import type { ConversationSnapshot } from '../../../../src/protocol/conversation/conversation.js';
import type { CanonicalEvent } from '../../../../src/protocol/log/events.js';
import type { EventsPage, EventsQuery } from '../../../../src/protocol/workflow/messaging.js';
import { type FakeCall, fakeTemporal, noAnswer } from '../../../support/fakes/fake-temporal.js';
import { CALL, SUPPORT, sampleLog, TURN } from '../../../support/samples/sample-log.js';

/** A workflow that answers queries about a log, two events a page. */
function answering(log: readonly CanonicalEvent[], call: FakeCall): unknown {
  if (call.name === 'events') {
    const { after } = call.input as EventsQuery;
    const rest = log.filter((event) => event.seq > after);
    const page: EventsPage = {
      events: rest.slice(0, 2),
      lastSeq: log.length,
      firstSeq: 1,
      more: rest.length > 2,
    };
    return page;
  }
  let view: ConversationSnapshot | undefined;
  for (const event of log) view = foldView(view, event);
  return view;
}

function notFound(): never {
  throw new WorkflowNotFoundError('not found', 'conversation:default:c-1', undefined);
}

function setUp(
  query: (call: FakeCall) => unknown,
  describe?: Exclude<Parameters<typeof fakeTemporal>[0]['describe'], undefined>,
) {
  const temporal = fakeTemporal({ query, ...(describe === undefined ? {} : { describe }) });
  const client = new ConversationClient({ temporal: temporal.client, agents: [SUPPORT] });
  return { client, conversation: client.conversation('c-1'), calls: temporal.calls };
}

describe('without an event log, the workflow is queried', () => {
  it('for the result of a turn, from any process', async () => {
    const { client } = setUp((call) => answering(sampleLog('c-1'), call));
    expect(await client.turn('c-1', TURN).result({ timeout: '1s' })).toEqual({
      status: 'completed',
      turnId: TURN,
      text: 'Zażółć 🙂\nDone',
      usage: { inputTokens: 3, outputTokens: 2 },
      seq: 9,
    });
  });

  it('and a turn that waits for a person returns its pending calls', async () => {
    const { client } = setUp((call) => answering(sampleLog('c-1').slice(0, 5), call));
    expect(await client.turn('c-1', TURN).result({ timeout: '1s' })).toMatchObject({
      status: 'waiting',
      pending: [{ toolCallId: CALL, ref: `default~c-1~${CALL}` }],
    });
    const turn = client.turn('c-1', TURN);
    expect(await turn.result({ timeout: 1, returnWhenWaiting: false })).toEqual({
      status: 'timeout',
      turnId: TURN,
    });
  });

  it('and an unknown turn is an error, not a result', async () => {
    const { client } = setUp((call) => answering(sampleLog('c-1'), call));
    const result = client.turn('c-1', 'turn_x_9').result({ timeout: 1 });
    await expect(result).rejects.toMatchObject({ code: 'unknown_turn', httpStatus: 404 });
  });

  it('and the client waits for one that is away', async () => {
    let asked = 0;
    const { client } = setUp((call) => {
      asked += 1;
      if (asked < 2) throw noAnswer();
      return answering(sampleLog('c-1'), call);
    });
    const result = await client.turn('c-1', TURN).result({ timeout: '3s' });
    expect(result.status).toBe('completed');
  });

  it('for the log, page by page and as a subscription that ends when its reader leaves', async () => {
    const { conversation } = setUp((call) => answering(sampleLog('c-1', { closed: true }), call));
    expect((await conversation.events({ limit: 1 })).events.map((event) => event.seq)).toEqual([1]);
    const seen: number[] = [];
    for await (const frame of conversation.subscribe({ after: { generation: 1, seq: 3 } })) {
      if (frame.type !== 'event') continue;
      seen.push(frame.cursor.seq);
      if (frame.event.type === 'conversation_closed') break;
    }
    expect(seen).toEqual([4, 5, 6, 7, 8, 9, 10]);
  });

  it('for its snapshot; without a worker that is an error that says how to start one', async () => {
    const { conversation } = setUp(() => {
      throw noAnswer();
    });
    await expect(conversation.snapshot()).rejects.toMatchObject({
      code: 'no_worker',
      httpStatus: 503,
      message: expect.stringContaining('npx colloquy worker') as string,
    });
  });

  it('and a conversation that does not exist is unknown', async () => {
    const { conversation } = setUp(notFound, notFound);
    await expect(conversation.pending()).rejects.toMatchObject({ code: 'unknown_conversation' });
    await expect(conversation.events()).rejects.toMatchObject({ code: 'unknown_conversation' });
  });

  it.each(['soon', '', '20', -1, Number.NaN])('refuses %j as a duration', async (timeout) => {
    const { client } = setUp(() => undefined);
    const result = client.turn('c-1', TURN).result({ timeout: timeout as number });
    await expect(result).rejects.toMatchObject({
      code: 'invalid_request',
      problems: [{ path: '/timeout' }],
    });
  });
});
