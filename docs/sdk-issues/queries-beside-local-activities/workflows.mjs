import {
  condition,
  defineQuery,
  defineSignal,
  proxyActivities,
  proxyLocalActivities,
  setHandler,
  sleep,
} from '@temporalio/workflow';

export const read = defineSignal('read');
export const wait = defineSignal('wait');
export const slow = defineQuery('slow');

/** About a second: the local activity ends, and a signal comes, while the query is answered. */
const STEPS = 1_000_000_000;
const { look } = proxyLocalActivities({ startToCloseTimeout: '10s' });
const { act } = proxyActivities({ startToCloseTimeout: '10s' });

/** One signal has it read by a local activity and act upon it, the other has it start a timer. */
export async function reader() {
  let isAsked = false;
  setHandler(read, () => {
    isAsked = true;
  });
  setHandler(wait, () => {
    void sleep(1_000_000);
  });
  setHandler(slow, () => {
    for (let sum = 0; sum < STEPS; sum += 1);
  });
  await condition(() => isAsked);
  await look();
  await act();
  await condition(() => false);
}
