import { condition, defineQuery, defineSignal, setHandler, sleep } from '@temporalio/workflow';

export const note = defineSignal('note');
export const entriesOf = defineQuery('entries');

/** Takes down, at each turn of its loop, what has come since the last one, and starts a timer for each entry. */
export async function recorder() {
  const inbox = [];
  const entries = [];
  setHandler(entriesOf, () => entries);
  setHandler(note, (text) => {
    inbox.push(text);
  });
  for (;;) {
    await condition(() => inbox.length > 0);
    entries.push(inbox.splice(0).join('+'));
    void sleep(1_000_000 + entries.length);
  }
}
