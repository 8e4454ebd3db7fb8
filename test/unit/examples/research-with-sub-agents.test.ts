/** Runs the example of sub-agents that docs/sub-agents.md names. */
import { expect, it } from 'vitest';
import { anAnalystHasOthersResearch } from '../../../examples/uses/research-with-sub-agents.js';

it('an analyst answers once its researcher was allowed to buy, as docs/sub-agents.md says', async () => {
  expect(await anAnalystHasOthersResearch()).toBe('The report says 42; the archive has nothing.');
});
