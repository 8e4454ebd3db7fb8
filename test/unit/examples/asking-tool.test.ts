/** Runs the example of a tool that asks, which docs/tools.md shows. */
import { it } from 'vitest';
import { aCustomerPicksATimeDaysLater } from '../../../examples/uses/asking-tool.js';

it('a tool that asks does what docs/tools.md shows', async () => {
  await aCustomerPicksATimeDaysLater();
});
