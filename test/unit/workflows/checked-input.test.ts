/** Conversations that a worker does not begin, and how it refuses them. */
import { ApplicationFailure } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import type { ConversationInput } from '../../../src/protocol/workflow/messaging.js';
import { CORE_REVISION } from '../../../src/protocol/workflow/revisions.js';
import { checkedInput } from '../../../src/workflows/handlers/checked-input.js';
import { settings } from '../../support/builders/core-builders.js';
import { promise } from '../../support/promise.js';

function input(coreRevision: number): ConversationInput {
  return {
    tenant: 'default',
    conversationId: 'order-42',
    agent: 'support',
    settings: { ...settings(), coreRevision },
  };
}

describe('a conversation', () => {
  it('of the present core revision is run', () => {
    const given = input(CORE_REVISION);
    expect(checkedInput(given)).toBe(given);
  });

  it('of a later core revision is refused without ending it, so that it waits for a newer worker', {
    ...promise('G204'),
  }, () => {
    const refused = () => checkedInput(input(CORE_REVISION + 1));
    // An error that is not a failure of Temporal's fails the task alone.
    expect(refused).toThrow(TypeError);
    expect(refused).toThrow(
      `core revision ${CORE_REVISION + 1} needs a newer worker: this one knows up to ${CORE_REVISION}`,
    );
  });

  it.each([null, { timeMs: 'long' }, { timeMs: 1e300 }, { timeMs: -1 }, { callsOf: null }])(
    'with budgets that no turn could be held to ends at once with the reason: %j',
    (budgets) => {
      const given = input(CORE_REVISION);
      const faulty = { ...given, settings: { ...given.settings, budgets } } as ConversationInput;
      expect(() => checkedInput(faulty)).toThrow(ApplicationFailure);
      expect(() => checkedInput(faulty)).toThrow(/cannot start: settings\.budgets/);
    },
  );
});
