/** Payloads of a finished task that are kept from being compressed. */
import type { Payload } from '@temporalio/common';
import type { WorkflowInternalsInterceptor } from '@temporalio/workflow';
import { expect, test } from 'vitest';
import { COMPRESS_FROM_BYTES } from '../../../src/protocol/limits/limits.js';
import { PLAIN_METADATA } from '../../../src/protocol/workflow/messaging.js';
import { PlainReplies } from '../../../src/workflows/handlers/plain-replies.js';
import { promise } from '../../support/promise.js';

type Commands = Parameters<
  NonNullable<WorkflowInternalsInterceptor['concludeActivation']>
>[0]['commands'];

const payload = (size: number): Payload => ({ metadata: {}, data: new Uint8Array(size) });
const LARGE = COMPRESS_FROM_BYTES + 1;

test('large replies to updates and queries are marked as plain; small ones and all other payloads stay as they are', {
  ...promise('G283'),
}, () => {
  const [update, query, small, input] = [LARGE, LARGE, COMPRESS_FROM_BYTES, LARGE].map(payload);
  const commands: Commands = [
    { updateResponse: { completed: update! } },
    { respondToQuery: { queryId: '1', succeeded: { response: query! } } },
    { respondToQuery: { queryId: '2', succeeded: { response: small! } } },
    { respondToQuery: { queryId: '3', failed: { message: 'no' } } },
    { updateResponse: { accepted: {} } },
    { scheduleActivity: { arguments: [input!] } },
  ];
  const output = new PlainReplies().concludeActivation({ commands }, (given) => given);
  expect(output.commands).toHaveLength(commands.length);
  const marked = [update, query, small, input].map(
    (one) => PLAIN_METADATA in (one?.metadata ?? {}),
  );
  expect(marked).toEqual([true, true, false, false]);
});
