// The promises and requirements in test/promises: their ids, their texts, and the number of tests that show each of
// them.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('../../test/promises/', import.meta.url));

/** Topics with their files, in the order of the pages. */
const TOPICS = {
  guarantees: [
    ...['processes-die', 'answers', 'turns-and-results', 'history-and-log', 'triggers'],
    ...['starting-up', 'identity', 'spaces', 'forks', 'inspection'],
  ],
  requirements: ['scenarios', 'agentix', 'hsafa', 'agentic-core', 'aptix', 'rules-and-limits'],
};

/** Prefixes of the requirements' ids, and the number of each. */
const RANGES = [
  ['S', 50],
  ['A', 57],
  ['H', 57],
  ['C', 42],
  ['X', 50],
  ['N', 30],
  ['T', 20],
  ['K', 24],
  // Sections, or their paragraphs, on what is around the four sources. Only parts are here: the words of each say which.
  ['2.A.', 8],
  ['2.H.', 4],
  ['2.C.', 11],
  ['2.X.', 12],
];

/** Shorter reasons explain nothing. */
const MIN_REASON_CHARS = 20;

/** The marks of a promise that no test shows, or not completely yet. */
const MARKS = ['later', 'notApplicable', 'withdrawn'];
const WORDS = {
  guarantees: ['when', 'user'],
  requirements: ['words'],
};

/** Returns both lists as `{guarantees, requirements}`: arrays of topics with a `file` and their promises. */
export function readPromises(folder = FOLDER) {
  const topics = (kind) => TOPICS[kind].map((name) => readTopic(folder, `${kind}/${name}.json`));
  return { guarantees: topics('guarantees'), requirements: topics('requirements') };
}

/** Files of the folder without a topic. */
export function strayFiles(folder = FOLDER) {
  return Object.entries(TOPICS).flatMap(([kind, names]) =>
    readdirSync(`${folder}${kind}`)
      .filter((file) => !names.includes(file.replace(/\.json$/, '')))
      .map((file) => `test/promises/${kind}/${file}`),
  );
}

/** Every promise of both lists. */
export function allPromises(lists) {
  return [...lists.guarantees, ...lists.requirements].flatMap(({ promises }) => promises);
}

/**
 * The faults of the lists, each `{file, message}`: every id once, none missing, texts, and a number of tests or a
 * reason.
 */
export function listFaults(lists) {
  const seen = new Set();
  const faults = Object.entries(lists).flatMap(([kind, topics]) =>
    topics.flatMap(({ file, promises }) =>
      promises.flatMap((promise) => {
        const messages = promiseFaults(promise, kind);
        if (seen.has(promise.id)) messages.push('has a second entry');
        seen.add(promise.id);
        return messages.map((message) => ({ file, message: `${promise.id}: ${message}` }));
      }),
    ),
  );
  const numbers = lists.guarantees.flatMap(({ promises }) =>
    promises.map(({ id }) => numberOf(id)),
  );
  const wanted = { guarantees: idsOf('G', Math.max(0, ...numbers)), requirements: REQUIRED };
  for (const [kind, ids] of Object.entries(wanted))
    for (const id of ids)
      if (!seen.has(id))
        faults.push({
          file: `test/promises/${kind}`,
          message: `${id} is missing; mark it instead`,
        });
  return [...faults, ...referenceFaults(lists)];
}

/** The faults of rules that are shown by the tests of other promises. */
function referenceFaults(lists) {
  const shown = new Set(
    allPromises(lists)
      .filter(isShown)
      .map(({ id }) => id),
  );
  return lists.requirements.flatMap(({ file, promises }) =>
    promises.flatMap(({ id, by = [] }) =>
      by
        .filter((other) => !shown.has(other))
        .map((other) => ({ file, message: `${id}: no test shows ${other}` })),
    ),
  );
}

/** Whether a test must show the promise: a mark without a number of tests means that none does. */
export function isShown(promise) {
  return promise.tests !== undefined;
}

function readTopic(folder, name) {
  const file = `test/promises/${name}`;
  return { file, ...JSON.parse(readFileSync(folder + name, 'utf8')) };
}

const REQUIRED = RANGES.flatMap(([prefix, count]) => idsOf(prefix, count));

function promiseFaults(promise, kind) {
  const { id, tests, by = [] } = promise;
  const messages = [];
  const isKnown = kind === 'guarantees' ? /^G[1-9]\d*$/.test(id) : REQUIRED.includes(id);
  if (!isKnown) messages.push('there is no such id');
  for (const word of WORDS[kind])
    if ((promise[word] ?? '') === '') messages.push(`has no "${word}"`);
  const marks = MARKS.filter((mark) => promise[mark] !== undefined);
  for (const mark of marks)
    if (promise[mark].length < MIN_REASON_CHARS)
      messages.push(`"${mark}" has no reason of at least ${MIN_REASON_CHARS} characters`);
  if (marks.length > 1) messages.push(`has more than one mark: ${marks.join(', ')}`);
  if (tests === undefined && by.length === 0 && marks.length === 0)
    messages.push(`has neither a number of "tests" nor a mark: ${MARKS.join(', ')}`);
  if (by.length > 0 && (tests !== undefined || !/^([NTK]|2\.[ACX]\.)\d+$/.test(id)))
    messages.push('"by" is for rules and paragraphs without tests of their own');
  if (tests !== undefined && !(Number.isInteger(tests) && tests > 0))
    messages.push('"tests" is a whole number above 0');
  if (tests !== undefined && marks.some((mark) => mark !== 'later'))
    messages.push(`has tests, so it is not "${marks.join(', ')}"`);
  return messages;
}

function numberOf(id) {
  return Number(/^G(\d+)$/.exec(id)?.[1] ?? 0);
}

function idsOf(prefix, count) {
  return Array.from({ length: count }, (_, index) => `${prefix}${index + 1}`);
}
