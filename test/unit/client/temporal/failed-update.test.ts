/** The verdict on a request whose update failed, by the log of a conversation that may be gone. */
import { WorkflowNotFoundError } from '@temporalio/client';
import { expect, it } from 'vitest';
import { ConversationError } from '../../../../src/client/api/errors.js';
import { verdictOfFailure } from '../../../../src/client/temporal/confirmed-update.js';
import { fromTemporal } from '../../../../src/client/temporal/errors.js';
import type { TemporalGateway } from '../../../../src/client/temporal/temporal-gateway.js';

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
