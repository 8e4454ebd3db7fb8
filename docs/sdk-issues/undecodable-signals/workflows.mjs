import { condition, defineSignal, setHandler } from '@temporalio/workflow';

/** Takes any number of signals. */
export async function recorder() {
  let taken = 0;
  setHandler(defineSignal('note'), () => {
    taken += 1;
  });
  await condition(() => taken < 0);
}
