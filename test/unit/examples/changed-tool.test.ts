/** Runs the example of a tool that changes while its call waits, which docs/tools.md shows. */
import { it } from 'vitest';
import { anApprovedCallIsCarriedOver } from '../../../examples/uses/changed-tool.js';

it('a tool that changes while its call waits does what docs/tools.md shows', async () => {
  await anApprovedCallIsCarriedOver();
});
