/** Runs the example that the README shows. */
import { it } from 'vitest';
import { anUnansweredRefundExpires } from '../../../examples/uses/test-an-agent.js';

it('an agent can be tested with no Temporal, as the README shows', async () => {
  await anUnansweredRefundExpires();
});
