import {
  condition,
  defineQuery,
  defineSignal,
  defineUpdate,
  setHandler,
  sleep,
} from '@temporalio/workflow';

export const note = defineSignal('note');
export const entriesOf = defineQuery('entries');
export const finish = defineUpdate('finish');

/** Takes down, at each turn of its loop, what has come since the last one; at the end starts a timer for each entry. */
export async function recorder() {
  const inbox = [];
  const entries = [];
  let isFinishing = false;
  setHandler(entriesOf, () => entries);
  setHandler(note, (text) => {
    inbox.push(text);
  });
  setHandler(finish, () => {
    isFinishing = true;
  });
  for (;;) {
    await condition(() => inbox.length > 0 || isFinishing);
    // No command: what this task has decided is in the memory of the workflow only.
    if (inbox.length > 0) entries.push(inbox.splice(0).join('+'));
    if (isFinishing) break;
  }
  await Promise.all(entries.map((_, index) => sleep(1_000 * (index + 1))));
}
