/**
 * Ties tests to the promises that they show. The ids are those of test/promises; the runner has them as tags, which
 * tests inherit from their group and which the report of a run names.
 */
import { allPromises, isShown, readPromises } from '../../scripts/promises/list.mjs';

const SHOWN = allPromises(readPromises()).filter(isShown);
const IDS = new Set(SHOWN.map(({ id }) => id));

/** The tags of the runner, for vitest.config.ts: an id is also a filter, `--tags-filter G12`. */
export const PROMISE_TAGS = SHOWN.map(({ id, when, words }) => ({
  name: id,
  description: when ?? words ?? '',
}));

/**
 * Options of a test or group that shows these promises: `it('title', promise('G12', 'A34'), ...)`, or with other options
 * `{ ...promise('G12'), timeout: patient(60_000) }`. docs:check reads the ids from the source, so they are written out.
 *
 * @throws Error for an id that test/promises does not have, or has as one without tests
 */
export function promise(...ids: readonly [string, ...string[]]): { readonly tags: string[] } {
  const unknown = ids.filter((id) => !IDS.has(id));
  if (unknown.length > 0) throw new Error(`no promise with tests: ${unknown.join(', ')}`);
  return { tags: [...ids] };
}
