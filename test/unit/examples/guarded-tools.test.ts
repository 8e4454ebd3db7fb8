/** The example that docs/tools.md shows must do what it says. */
import { it } from 'vitest';
import { aClerkApprovesOnce, oneTabReadsTheCart } from '../../../examples/uses/guarded-tools.js';

it('tools that need somebody do what docs/tools.md shows', async () => {
  await aClerkApprovesOnce();
});

it('a claim does what docs/tools.md shows', async () => {
  await oneTabReadsTheCart();
});
