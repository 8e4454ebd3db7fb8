import { describe, expect, it } from 'vitest';
import { refusalTrace } from '../../../../src/client/messages/send.js';
import type { CanonicalEvent } from '../../../../src/protocol/log/events.js';
import type { Actor } from '../../../../src/protocol/values/actors.js';
import { StoreUnavailable } from '../../../../src/store/ports/log.js';
import { FakeReader } from '../../../support/fakes/fake-reader.js';
import { grpcError, noAnswer, refusal } from '../../../support/fakes/fake-temporal.js';
import { failureOf, setUp } from '../../../support/fakes/scripted-client.js';
import { promise } from '../../../support/promise.js';
import { SUPPORT, sampleLog, TURN } from '../../../support/samples/sample-log.js';

const RUNNING = { status: { name: 'RUNNING' }, runId: 'run-1' };
const EMPTY_PAGE = { events: [], lastSeq: 0, firstSeq: 1, more: false };
const REPLY = { turnId: TURN, messageId: 'm_1', seq: 2, ahead: 0 };

/** The message `r`, refused after the sample log. */
const REFUSED: CanonicalEvent = {
  type: 'message_refused',
  seq: 10,
  at: '2026-01-01T00:00:06.000Z',
  requestId: 'r',
  code: 'queue_full',
  actor: { id: 'anonymous', verified: false, channel: 'client' },
};

describe('sending a message', () => {
  it('starts or continues the conversation in one call that names its agent, tenant and request', {
    ...promise('A40'),
  }, async () => {
    const { conversation, calls } = setUp({ updateWithStart: () => REPLY });
    const turn = await conversation.send('Hello there', {
      requestId: 'job-7',
      actor: { id: 'ann' },
    });
    expect(turn).toMatchObject({
      status: 'admitted',
      ...REPLY,
      requestId: 'job-7',
      duplicate: false,
    });
    expect(calls.map((call) => call.kind)).toEqual(['updateWithStart']);
    expect(calls[0]).toMatchObject({
      name: 'sendMessage',
      workflowId: 'conversation:default:c-1',
      input: {
        text: 'Hello there',
        requestId: 'job-7',
        agent: 'support',
        actor: { id: 'ann', verified: true, channel: 'client' },
      },
      options: {
        taskQueue: 'colloquy',
        workflowIdReusePolicy: 'REJECT_DUPLICATE',
        workflowIdConflictPolicy: 'USE_EXISTING',
        args: [
          {
            tenant: 'default',
            conversationId: 'c-1',
            agent: 'support',
            settings: SUPPORT.settings,
          },
        ],
        memo: { title: 'Hello there', agent: 'support' },
        priority: { fairnessKey: 'default' },
      },
    });
    const attributes = calls[0]?.options['typedSearchAttributes'] as {
      key: { name: string };
      value: string;
    }[];
    expect(attributes.map(({ key, value }) => [key.name, value])).toEqual([
      ['ColloquyStatus', 'active'],
      ['ColloquyAgent', 'support'],
      ['ColloquyTenant', 'default'],
    ]);
  });

  it('passes to the workflow that search attributes are switched off', async () => {
    const { conversation, calls } = setUp(
      { updateWithStart: () => REPLY },
      { searchAttributes: false },
    );
    await conversation.send('Hello');
    expect(calls[0]?.options).not.toHaveProperty('typedSearchAttributes');
    expect(calls[0]?.options['args']).toMatchObject([{ searchAttributes: false }]);
  });

  it.each([
    [
      'an unknown agent, naming the known ones',
      'nobody',
      'Hi',
      'unknown_agent',
      'Known agents: support',
    ],
    ['a blank message', 'support', ' \n ', 'invalid_request', 'text must not be blank'],
    [
      'a message over 256 KiB',
      'support',
      'x'.repeat(262_145),
      'invalid_request',
      'at most 262144 bytes',
    ],
  ])('refuses %s before anything reaches Temporal', async (_what, agent, text, code, message) => {
    const { client, calls } = setUp({});
    const error = await failureOf(client.conversation('c-1', { agent }).send(text));
    expect(error.code).toBe(code);
    expect(error.message).toContain(message);
    expect(calls).toEqual([]);
  });

  it('refuses malformed ids before anything reaches Temporal', () => {
    const { client, calls } = setUp({});
    expect(() => client.conversation('a:b')).toThrow('may hold only letters');
    expect(() => client.conversation('')).toThrow('non-empty');
    expect(() => client.conversation('x'.repeat(129))).toThrow('at most 128');
    expect(() => client.conversation('ok', { tenant: 'a b' })).toThrow('tenant');
    expect(calls).toEqual([]);
  });

  it('returns the first reply to a repeated request, marked as a duplicate', async () => {
    const { conversation } = setUp({
      updateWithStart: () => {
        throw refusal('duplicate', REPLY);
      },
    });
    expect(await conversation.send('Hello', { requestId: 'r' })).toMatchObject({
      ...REPLY,
      duplicate: true,
    });
  });

  it('returns a refusal with its code and the fields that break a rule', async () => {
    const problems = [{ path: '/agent', message: 'must be "other"' }];
    const { conversation } = setUp({
      updateWithStart: () => {
        throw refusal('agent_mismatch', { message: 'It belongs to "other"', problems });
      },
    });
    const error = await failureOf(conversation.send('Hello'));
    expect(error).toMatchObject({
      code: 'agent_mismatch',
      httpStatus: 409,
      message: 'It belongs to "other"',
      problems,
    });
  });

  it.each([
    ['a roll-over', () => refusal('UnprocessedUpdate', undefined)],
    ['an unexpected workflow task failure', () => grpcError(9, 'unexpected workflow task failure')],
    ['too many updates in flight', () => grpcError(8, 'limit')],
  ])('survives %s with the same ids', async (_what, failure) => {
    let tries = 0;
    const { conversation, calls } = setUp({
      updateWithStart: () => {
        tries += 1;
        if (tries < 3) throw failure();
        return REPLY;
      },
    });
    expect(await conversation.send('Hello')).toMatchObject({
      status: 'admitted',
      duplicate: false,
    });
    const sent = calls.filter(({ kind }) => kind === 'updateWithStart');
    expect(sent).toHaveLength(3);
    expect(new Set(sent.map((call) => call.options['updateId'])).size).toBe(1);
    expect(new Set(sent.map((call) => (call.input as { requestId: string }).requestId)).size).toBe(
      1,
    );
  });

  it('leaves the message as a signal when no worker answers, and says how to start one', async () => {
    let alive = false;
    const { conversation, calls } = setUp({
      updateWithStart: () => {
        throw noAnswer();
      },
      signalWithStart: () => undefined,
      update: () => {
        if (!alive) throw noAnswer();
        throw refusal('duplicate', REPLY);
      },
      query: () => {
        if (!alive) throw noAnswer();
        return EMPTY_PAGE;
      },
      describe: () => RUNNING,
    });
    const sent = await conversation.send('Hello', { requestId: 'r' });
    expect(sent).toMatchObject({
      status: 'queued',
      requestId: 'r',
      warning:
        'No worker polls task queue "colloquy" (the server has seen none lately). Start one: npx colloquy worker --agents <module> - unless Temporal was just restarted: running workers are back within about 10 s',
    });
    if (sent.status !== 'queued') return;
    expect(calls.map((call) => call.kind)).toEqual([
      'updateWithStart',
      'signalWithStart',
      'describe',
    ]);
    expect(calls[1]?.input).toMatchObject(calls[0]?.input as object);
    expect(await sent.result({ timeout: 1 })).toEqual({ status: 'queued', requestId: 'r' });
    alive = true;
    expect(await sent.final({ timeout: '5s' })).toMatchObject({ ...REPLY, duplicate: false });
  });

  it.each([
    ['waits behind a running turn, which its sender could not see', undefined, 'queue'],
    ['is not kept when its sender said so', 'reject' as const, 'reject'],
  ])('a message that was left as a signal %s', async (_what, onBusy, sent) => {
    const { conversation, calls } = setUp({
      updateWithStart: () => {
        throw noAnswer();
      },
      signalWithStart: () => undefined,
    });
    await conversation.send('Hello', { onBusy });
    expect(calls[1]).toMatchObject({ kind: 'signalWithStart', input: { onBusy: sent } });
  });

  it('does not take the refusal of a cancel under its request id for its own', () => {
    const at = '2026-01-01T00:00:06.000Z';
    const actor = { id: 'anonymous', verified: false, channel: 'client' } as const;
    const refused = { type: 'message_refused', seq: 10, at, requestId: 'r', actor } as const;
    const own = { ...refused, code: 'busy' } as const;
    const ofCancel = { ...refused, code: 'invalid_request', request: 'cancel' } as const;
    const trace = refusalTrace('r');
    expect(trace(undefined, ofCancel)).toBeUndefined();
    expect(trace(trace(undefined, own), ofCancel)).toBe(own);
  });

  it.each(['the log', 'the workflow, before the log'])(
    'reports by %s that a message that was left as a signal was refused, and never sends it anew',
    async (where) => {
      const reader = new FakeReader();
      reader.add('c-1', sampleLog('c-1'));
      const { conversation, calls } = setUp(
        {
          updateWithStart: () => {
            throw noAnswer();
          },
          signalWithStart: () => undefined,
          query: () => ({ ...EMPTY_PAGE, events: where === 'the log' ? [] : [REFUSED] }),
        },
        { reader },
      );
      const sent = await conversation.send('Hello', { requestId: 'r' });
      if (sent.status !== 'queued') throw new Error('must be queued');
      if (where === 'the log') reader.add('c-1', [REFUSED]);
      const error = await failureOf(sent.final({ timeout: '5s' }));
      expect(error).toMatchObject({ code: 'queue_full', httpStatus: 429 });
      expect(calls.some((call) => call.kind === 'update')).toBe(false);
    },
  );

  it('waits for the outcome of a message whose request id was refused before', {
    ...promise('G29'),
  }, async () => {
    const reader = new FakeReader();
    reader.add('c-1', [...sampleLog('c-1'), REFUSED]);
    const after: unknown[] = [];
    const { conversation } = setUp(
      {
        updateWithStart: () => {
          throw noAnswer();
        },
        signalWithStart: () => undefined,
        query: ({ input }) => {
          after.push(input);
          return EMPTY_PAGE;
        },
        update: () => REPLY,
      },
      { reader },
    );
    const sent = await conversation.send('Hello', { requestId: 'r' });
    if (sent.status !== 'queued') throw new Error('must be queued');
    expect(await sent.final({ timeout: '5s' })).toMatchObject({ ...REPLY, duplicate: false });
    expect(after).toEqual([{ after: 10 }]);
  });

  it('judges a message anew whose refusal as a signal was only counted, and returns its outcome', {
    ...promise('G29'),
  }, async () => {
    let full = true;
    const { conversation } = setUp({
      updateWithStart: () => {
        throw noAnswer();
      },
      signalWithStart: () => undefined,
      query: () => ({ ...EMPTY_PAGE, events: [] }),
      update: () => {
        if (full) throw refusal('queue_full', {});
        return REPLY;
      },
    });
    const sent = await conversation.send('Hello', { requestId: 'r' });
    if (sent.status !== 'queued') throw new Error('must be queued');
    expect(await failureOf(sent.final({ timeout: '5s' }))).toMatchObject({ code: 'queue_full' });
    full = false;
    expect(await sent.final({ timeout: '5s' })).toMatchObject({ ...REPLY, duplicate: false });
  });

  it.each<[string, unknown, string]>([
    ['an empty id', { id: '' }, '/actor/id'],
    ['an id over 200 characters', { id: 'x'.repeat(201) }, '/actor/id'],
    ['an id that is no text', { id: 7 }, '/actor/id'],
    ['a name over 200 characters', { id: 'ann', name: 'x'.repeat(201) }, '/actor/name'],
    ['over 50 roles', { id: 'ann', roles: Array(51).fill('clerk') }, '/actor/roles'],
    ['an empty role', { id: 'ann', roles: [''] }, '/actor/roles'],
  ])('refuses an actor with %s before anything reaches Temporal', async (_what, value, path) => {
    const { conversation, client, calls } = setUp({});
    const actor = value as Actor;
    const sent = await failureOf(conversation.send('Hello', { actor }));
    const resolved = await failureOf(
      client.resolve('default~c-1~call', { type: 'approve' }, { actor }),
    );
    for (const error of [sent, resolved])
      expect(error).toMatchObject({ code: 'invalid_request', problems: [{ path }] });
    expect(calls).toEqual([]);
  });

  it('names the address when Temporal cannot be reached, and how to start it', async () => {
    const { conversation } = setUp({
      updateWithStart: () => {
        throw noAnswer();
      },
      signalWithStart: () => {
        throw grpcError(14, 'connection refused');
      },
    });
    const error = await failureOf(conversation.send('Hello'));
    expect(error).toMatchObject({ code: 'temporal_unreachable', httpStatus: 503 });
    expect(error.message).toContain('127.0.0.1:7233');
    expect(error.message).toContain('./temporal-dev.sh');
  });
});

describe('a store that is away', () => {
  it('does not keep a message from its conversation', async () => {
    const reader = new FakeReader();
    reader.failure = new StoreUnavailable('the disk is gone');
    const { conversation } = setUp({ updateWithStart: () => REPLY }, { reader });
    expect(await conversation.send('Hello')).toMatchObject({ status: 'admitted' });
  });

  it('is reported where it is needed', async () => {
    const reader = new FakeReader();
    reader.failure = new StoreUnavailable('the disk is gone');
    const agents = (): Promise<never> => Promise.reject(new StoreUnavailable('the disk is gone'));
    const { conversation, client } = setUp({}, { reader, agents });
    const gone = { code: 'store_unavailable', httpStatus: 503, message: 'the disk is gone' };
    expect(await failureOf(conversation.send('Hello'))).toMatchObject(gone);
    expect(await failureOf(conversation.snapshot())).toMatchObject(gone);
    expect(await failureOf(client.conversation('c-1').events())).toMatchObject(gone);
  });
});
