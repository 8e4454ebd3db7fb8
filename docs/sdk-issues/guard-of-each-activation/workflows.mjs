import { sleep } from '@temporalio/workflow';

/** A history of many short tasks. */
export async function timers(count) {
  for (let fired = 0; fired < count; fired += 1) await sleep(1);
}
