/** Runs the example that docs/http-tools.md shows. */
import { it } from 'vitest';
import { anOrderIsFound } from '../../../examples/uses/http-tool.js';

it('tools that are HTTP requests do what docs/http-tools.md shows', async () => {
  await anOrderIsFound();
});
