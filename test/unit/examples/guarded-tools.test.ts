/** Runs the example that docs/tools.md shows. */
import { it } from 'vitest';
import { aClerkApprovesOnce, oneTabReadsTheCart } from '../../../examples/uses/guarded-tools.js';

it('tools that need a person do what docs/tools.md shows', async () => {
  await aClerkApprovesOnce();
});

it('a claim does what docs/tools.md shows', async () => {
  await oneTabReadsTheCart();
});
