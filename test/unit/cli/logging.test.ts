import { ApplicationFailure } from '@temporalio/common';
import { expect, it } from 'vitest';
import { runtimeLine } from '../../../src/cli/process/logging.js';

it("a log line of Temporal's has the message of its error, also as JSON", () => {
  const error = ApplicationFailure.create({ type: 'unknown_agent', message: 'No agent "a" here' });
  const line = JSON.parse(JSON.stringify(runtimeLine({ workflowId: 'w', error }))) as unknown;
  expect(line).toMatchObject({
    workflowId: 'w',
    temporal: true,
    error: { type: 'unknown_agent', message: 'No agent "a" here', nonRetryable: false },
  });
  expect(JSON.stringify(line)).not.toContain('stack');
  const plain = runtimeLine({ error: new TypeError('no') });
  expect(plain).toMatchObject({ error: { type: 'TypeError', message: 'no' } });
  expect(runtimeLine(undefined)).toEqual({ temporal: true });
});
