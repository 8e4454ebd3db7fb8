/** The server whose clock jumps to the next timer: days of waiting in milliseconds. */
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { temporalDev } from '../servers/dev-server.js';

export function timeSkippingEnvironment(): Promise<TestWorkflowEnvironment> {
  return TestWorkflowEnvironment.createTimeSkipping({
    server: { executable: { type: 'existing-path', path: temporalDev('--print-test-server') } },
  });
}
