/** The verdict on a request whose update failed, by the log of a conversation that may be gone. */
import { WorkflowNotFoundError } from '@temporalio/client';
import { expect, it, onTestFinished, vi } from 'vitest';
import { ConversationError } from '../../../../src/client/api/errors.js';
import { verdictOfFailure } from '../../../../src/client/temporal/confirmed-update.js';
import { fromTemporal } from '../../../../src/client/temporal/errors.js';
import type { TemporalGateway } from '../../../../src/client/temporal/temporal-gateway.js';
import { grpcError, noAnswer } from '../../../support/fakes/fake-temporal.js';
import { failureOf, setUp } from '../../../support/fakes/scripted-client.js';
import { promise } from '../../../support/promise.js';
import { CALL } from '../../../support/samples/sample-log.js';

const GONE = new WorkflowNotFoundError('not found', 'conversation:default:c1', undefined);

async function verdictAfter(error: Error, fromLog: () => Promise<unknown>): Promise<unknown> {
  const gateway = { toConversationError: fromTemporal } as unknown as TemporalGateway;
  return await verdictOfFailure(gateway, error, fromLog);
}

it('a conversation that does not run has the verdict of its log', async () => {
  const stale = { verdict: 'stale' };
  expect(await verdictAfter(GONE, () => Promise.resolve(stale))).toBe(stale);
});

it('a conversation is unknown where no worker can say more, and never by an error of the store', async () => {
  const away = new ConversationError('no_worker', 'no worker answers');
  expect(await verdictAfter(GONE, () => Promise.reject(away))).toEqual({
    verdict: 'unknown',
    what: 'conversation',
  });
  const down = new ConversationError('store_unavailable', 'down');
  await expect(verdictAfter(GONE, () => Promise.reject(down))).rejects.toBe(down);
});

it('any other error of the server is no verdict', async () => {
  const verdict = verdictAfter(new Error('boom'), () => Promise.reject(new Error('not asked')));
  await expect(verdict).rejects.toThrow('boom');
});

it.each([
  ['no server listens', () => grpcError(14, 'connection refused'), 'temporal_unreachable'],
  ['no worker answers', noAnswer, 'no_worker'],
])(
  'where %s, a request that needs a confirmation says so, and that it may still count',
  async (_why, make, code) => {
    const fails = (): never => {
      throw make();
    };
    const { conversation } = setUp({ update: fails, describe: () => ({ raw: {} }) });
    const { message, code: given } = await failureOf(conversation.revokeRule('r-1'));
    expect(given).toBe(code);
    expect(message).toMatch(/^Revoking was not confirmed, and may still happen when a worker/);
  },
);

it.each([
  [16, 'Request unauthorized: API key has expired'],
  [7, 'Request unauthorized'],
])(
  'credentials that the server refuses with the code %i are no error of the engine',
  async (code, why) => {
    const fails = (): never => {
      throw grpcError(code, why);
    };
    const { conversation } = setUp({ updateWithStart: fails, update: fails, describe: fails });
    for (const call of [conversation.send('Hello'), conversation.cancel(), conversation.run()]) {
      const { code: given, message } = await failureOf(call);
      expect(given).toBe('temporal_unreachable');
      expect(message).toContain(`at 127.0.0.1:7233 refuses this client (${why})`);
    }
  },
);

/** A client whose requests no worker answers, on a clock that the test moves. */
function unanswered() {
  vi.useFakeTimers();
  onTestFinished(() => {
    vi.useRealTimers();
  });
  return setUp({
    updateWithStart: () => new Promise(() => undefined),
    update: () => new Promise(() => undefined),
    signal: () => undefined,
    describe: () => ({ status: { name: 'RUNNING' }, raw: {} }),
  });
}

it('messages that wait for places hold up no request that answers, claims, extends, revokes or closes', {
  ...promise('G344'),
}, async () => {
  const { client, calls } = unanswered();
  for (let nth = 0; nth < 40; nth += 1)
    void client.conversation(`c-${nth}`, { agent: 'support' }).send('Hello');
  await vi.advanceTimersByTimeAsync(100);
  const waiting = client.conversation('w-1');
  void waiting.resolveBatch('t.1', [{ toolCallId: CALL, resultJson: '1' }]).catch(() => undefined);
  void client
    .conversation('w-2')
    .claim(CALL)
    .catch(() => undefined);
  void client
    .conversation('w-3')
    .extend(CALL, { by: '1 minute' })
    .catch(() => undefined);
  void client
    .conversation('w-4')
    .revokeRule('r-1')
    .catch(() => undefined);
  void client
    .conversation('w-5')
    .close()
    .catch(() => undefined);
  await vi.advanceTimersByTimeAsync(100);
  const sent = calls.filter(({ kind }) => kind === 'update').map(({ name }) => name);
  expect(new Set(sent)).toEqual(
    new Set([
      ...['resolveBatch', 'claimToolCall', 'extendToolCall', 'revokeRule', 'closeConversation'],
    ]),
  );
});

it('a request that got no place says that it was not sent', promise('G344'), async () => {
  const { client, calls } = unanswered();
  for (let nth = 0; nth < 64; nth += 1)
    void client.conversation(`c-${nth}`).resolve(CALL, { type: 'approve' });
  await vi.advanceTimersByTimeAsync(100);
  const refused = failureOf(client.conversation('w-1').claim(CALL));
  await vi.advanceTimersByTimeAsync(2_600);
  const { code, message } = await refused;
  expect(code).toBe('workers_busy');
  expect(message).toMatch(/^The request was not sent\. The workers have more requests/);
  expect(calls.some(({ name }) => name === 'claimToolCall')).toBe(false);
});
