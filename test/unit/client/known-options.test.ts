/** Options that no call of the client knows: a misspelt one is refused before anything is sent, not lost. */
import { describe, expect, it } from 'vitest';
import type { TemporalServer } from '../../../src/cli/temporal/temporal-server.js';
import { type Conversation, ConversationClient } from '../../../src/client/index.js';
import { TEMPORAL_FIELDS, type TemporalSettings } from '../../../src/client/temporal/connection.js';
import { openColloquy } from '../../../src/engine/index.js';
import { createApp, serve } from '../../../src/http/index.js';
import { requireKnown, unknownFieldRule } from '../../../src/protocol/values/field-problem.js';
import { createColloquyWorker } from '../../../src/worker/index.js';
import { failureOf, setUp } from '../../support/fakes/scripted-client.js';
import { identifyAll } from '../../support/networks/test-identity.js';
import { promise } from '../../support/promise.js';
import { TURN } from '../../support/samples/sample-log.js';

interface Using {
  readonly client: ConversationClient;
  readonly conversation: Conversation;
  readonly given: never;
}
type Call = (using: Using) => unknown;

const CALL = { conversationId: 'c-1', toolCallId: 'call_1' };
const HANDLE = (client: ConversationClient) => client.turn('c-1', TURN);
const next = (frames: AsyncIterable<unknown>): Promise<unknown> =>
  frames[Symbol.asyncIterator]().next();

const CALLS: readonly (readonly [string, string, string, Call])[] = [
  ['conversation', 'agnet', 'agent', ({ client, given }) => client.conversation('c-1', given)],
  ['turn', 'tennant', 'tenant', ({ client, given }) => client.turn('c-1', TURN, given)],
  ['list', 'statsu', 'status', ({ client, given }) => client.list(given)],
  ['watchList', 'Root', 'root', ({ client, given }) => client.watchList(given)],
  ['worklist', 'tools', 'tool', ({ client, given }) => client.worklist(given)],
  ['agents', 'tenants', 'tenant', ({ client, given }) => client.agents(given)],
  ['cancel', 'turnID', 'turnId', ({ client, given }) => client.cancel('c-1', given)],
  ['extend', 'untill', 'until', ({ client, given }) => client.extend(CALL, given)],
  ['claim', 'claimID', 'claimId', ({ client, given }) => client.claim(CALL, given)],
  ['progress', 'claimid', 'claimId', ({ client, given }) => client.progress(CALL, 1, given)],
  [
    'resolve',
    'requestID',
    'requestId',
    ({ client, given }) => client.resolve(CALL, { type: 'approve' }, given),
  ],
  [
    'deleteConversation',
    'tenat',
    'tenant',
    ({ client, given }) => client.deleteConversation('c-1', given),
  ],
  [
    'deleteTenant',
    'ondeleted',
    'onDeleted',
    ({ client, given }) => client.deleteTenant('acme', given),
  ],
  [
    'createTrigger',
    'replace',
    'replaces',
    ({ conversation, given }) => conversation.triggers().create({} as never, given),
  ],
  ['send', 'requestID', 'requestId', ({ conversation, given }) => conversation.send('Hi', given)],
  [
    'sendEvent',
    'actr',
    'actor',
    ({ conversation, given }) =>
      conversation.sendEvent({ eventId: 'e', kind: 'k', payload: {} }, given),
  ],
  [
    'resolve of a conversation',
    'request_id',
    'requestId',
    ({ conversation, given }) => conversation.resolve('call_1', { type: 'approve' }, given),
  ],
  [
    'resolveBatch',
    'requestID',
    'requestId',
    ({ conversation, given }) => conversation.resolveBatch('s', [], given),
  ],
  ['fork', 'atseq', 'atSeq', ({ conversation, given }) => conversation.fork(given)],
  ['whatIf', 'modle', 'model', ({ conversation, given }) => conversation.whatIf(given)],
  ['whatIfs', 'limits', 'limit', ({ conversation, given }) => conversation.whatIfs(given)],
  ['close', 'actors', 'actor', ({ conversation, given }) => conversation.close(given)],
  [
    'snapshot',
    'atLeastSequ',
    'atLeastSeq',
    ({ conversation, given }) => conversation.snapshot(given),
  ],
  ['pending', 'nestd', 'nested', ({ conversation, given }) => conversation.pending(given)],
  ['triggers', 'actors', 'actor', ({ conversation, given }) => conversation.triggers(given)],
  [
    'revokeRule',
    'requestID',
    'requestId',
    ({ conversation, given }) => conversation.revokeRule('r', given),
  ],
  ['events', 'befor', 'before', ({ conversation, given }) => conversation.events(given)],
  ['blob', 'ofset', 'offset', ({ conversation, given }) => conversation.blob('b', given)],
  [
    'modelCall',
    'generations',
    'generation',
    ({ conversation, given }) => conversation.modelCall(1, given),
  ],
  ['subscribe', 'afer', 'after', ({ conversation, given }) => next(conversation.subscribe(given))],
  ['result', 'timeOut', 'timeout', ({ client, given }) => HANDLE(client).result(given)],
  [
    'turnSubscribe',
    'sinal',
    'signal',
    ({ client, given }) => next(HANDLE(client).subscribe(given)),
  ],
];

type Options = Readonly<Record<string, unknown>>;

const client = (options: never) => new ConversationClient(options);
const served = (options: never) => serve(() => undefined, options);

describe('an option that a call does not know', () => {
  it.each(CALLS)(
    '%s refuses %s, names %s, and sends nothing',
    promise('G332'),
    async (_call, name, meant, call) => {
      const { client, conversation, calls } = setUp({});
      const given = { [name]: 'x' } as never;
      // Some calls throw at once.
      const error = await failureOf(
        Promise.resolve().then(() => call({ client, conversation, given })),
      );
      expect(error).toMatchObject({ code: 'invalid_request', problems: [{ path: `/${name}` }] });
      expect(error.message).toMatch(`${name}: unknown field; did you mean ${meant}? Known are `);
      expect(calls).toEqual([]);
    },
  );

  it('is fine where its value is undefined, and options that are no object are refused', async () => {
    const { client } = setUp({});
    expect(() => client.conversation('c-1', { agnet: undefined } as never)).not.toThrow();
    for (const given of [null, 'support', ['support']])
      expect(() => client.conversation('c-1', given as never)).toThrow(
        'must have its options in an object',
      );
  });
});

describe('an option that a part of an application does not know', () => {
  it.each<[string, Options, (options: never) => unknown, string]>([
    ['openColloquy', { stor: 'log.db' }, openColloquy, 'stor: unknown field; did you mean store?'],
    [
      'openColloquy',
      { store: 'log.db', temporal: { adress: 'temporal:7233' } },
      openColloquy,
      'temporal: adress: unknown field; did you mean address?',
    ],
    ['ConversationClient', { agent: [] }, client, 'agent: unknown field; did you mean agents?'],
    [
      'createColloquyWorker',
      { queue: 'x' },
      createColloquyWorker,
      'queue: unknown field; known are agents,',
    ],
    [
      'createColloquyWorker',
      { retention: { closedafter: '1 day' } },
      createColloquyWorker,
      'retention: closedafter: unknown field; did you mean closedAfter?',
    ],
    ['createApp', { ident: identifyAll }, createApp, 'ident: unknown field; known are client,'],
    ['serve', { prot: 8080 }, served, 'prot: unknown field; did you mean port?'],
  ])('%s refuses %j', promise('G332'), async (call, options, open, text) => {
    const opening = Promise.resolve(options as never).then((given) => open(given));
    await expect(opening).rejects.toThrow(`${call}: ${text}`);
  });
});

it('triggers that another one replaces are named in a list', async () => {
  const { conversation, calls } = setUp({});
  const created = conversation.triggers().create({} as never, { replaces: 'plan-1' as never });
  await expect(created).rejects.toMatchObject({ problems: [{ path: '/replaces' }] });
  expect(calls).toEqual([]);
});

it('a server of ensureTemporal may be passed whole as the options of Temporal', () => {
  const server: TemporalServer = {
    ...{ address: '127.0.0.1:7233', uiUrl: undefined, started: true, notes: [] },
    stop: () => Promise.resolve(),
  };
  const given: Partial<TemporalSettings> = server;
  expect(() => requireKnown('temporal', given, TEMPORAL_FIELDS)).not.toThrow();
});

describe('the name that was probably meant', () => {
  it.each([
    ['requestID', 'requestId'],
    ['storre', 'store'],
    ['agnets', 'agents'],
    ['timeoutMs', 'timeout'],
  ])('%s: %s', (given, meant) => {
    const known = ['agents', 'store', 'requestId', 'timeout', 'id'];
    expect(unknownFieldRule(given, known)).toContain(`did you mean ${meant}?`);
  });

  it('is left out where no name is near', () => {
    expect(unknownFieldRule('logLevel', ['agents', 'store', 'id'])).toBe(
      'unknown field; known are agents, store, id',
    );
  });
});
