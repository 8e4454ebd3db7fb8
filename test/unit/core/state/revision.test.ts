/** How a changed decision keeps the histories of conversations that were started before the change. */
import { expect, it } from 'vitest';
import { isSince } from '../../../../src/core/state/state.js';
import { CORE_REVISION } from '../../../../src/protocol/workflow/revisions.js';
import { settings } from '../../../support/builders/core-builders.js';

it('a conversation decides by the revision that it was started under, and by every earlier one', () => {
  const state = { settings: settings({ coreRevision: 3 }) };
  expect([1, 2, 3, 4].map((revision) => isSince(state, revision))).toEqual([
    true,
    true,
    true,
    false,
  ]);
  expect(settings().coreRevision).toBe(CORE_REVISION);
});
