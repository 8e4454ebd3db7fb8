/** Runs the example that docs/testing.md shows. */
import { it } from 'vitest';
import {
  anApprovedRefund,
  aWorkerIsLost,
  peopleAndClients,
} from '../../../examples/uses/testing-kit.js';

it.each([
  ['an approval', anApprovedRefund],
  ['answers of people and clients', peopleAndClients],
  ['a lost worker', aWorkerIsLost],
])('the test kit does for %s what docs/testing.md shows', async (_what, use) => {
  await use();
});
