import {
  condition,
  defineQuery,
  defineSignal,
  defineUpdate,
  setHandler,
} from '@temporalio/workflow';

export const note = defineSignal('note');
export const add = defineUpdate('add');
export const entriesOf = defineQuery('entries');

/** Records the texts of its signals and updates. */
export async function recorder() {
  const entries = [];
  setHandler(entriesOf, () => entries);
  setHandler(note, (text) => {
    entries.push(text);
  });
  setHandler(add, (text) => {
    entries.push(text);
  });
  await condition(() => false);
}
