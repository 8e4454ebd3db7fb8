/** The example that docs/http-tools.md shows must do what it says. */
import { it } from 'vitest';
import { anOrderIsFound } from '../../../examples/uses/http-tool.js';

it('tools that are HTTP requests do what docs/http-tools.md shows', async () => {
  await anOrderIsFound();
});
