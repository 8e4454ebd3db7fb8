/** Conversations that were begun before results could come with files. */
import { expect, it } from 'vitest';
import { modelCalls, plannedCall } from '../../support/core-builders.js';
import { aMachineWith } from '../../support/core-driver.js';

const FILES = [{ type: 'file' as const, source: { url: 'https://example.com/a.pdf' } }];

it('a conversation that was begun before refuses files beside a result, as it did', () => {
  const given = (coreRevision: number) => {
    const m = aMachineWith(modelCalls([plannedCall('c', { executor: 'client' })]), {
      settings: { coreRevision },
    });
    return m.resolve('c', { type: 'result', value: 1, files: FILES });
  };
  expect(given(5)).toEqual({
    verdict: 'invalid',
    problems: [{ path: '/resolution/files', message: 'is not supported here' }],
  });
  expect(given(6).verdict).toBe('accepted');
});
