// Promises and requirements with the tests that show them: the lists in test/promises, the tags `promise('G12')` in the
// test files, the pages in docs/generated, and the report of a run.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { allPromises, isShown, listFaults, readPromises, strayFiles } from './list.mjs';
import { pageOf } from './pages.mjs';
import { isTestFile, reportFaults } from './report.mjs';
import { tagsIn } from './source.mjs';

export { listFaults, pageOf, readPromises, reportFaults, tagsIn };

/** The faults of the sources, each `{file, line, message}`. With `write` the pages are written instead of compared. */
export function promisesInSource(root, { testFiles, write }) {
  const lists = readPromises();
  const sources = readTags(root, testFiles);
  const faults = [...listFaults(lists), ...strayFaults(), ...sourceFaults(lists, sources)];
  const { tags } = byId(sources);
  for (const [kind, topics] of Object.entries(lists)) {
    const file = `docs/generated/${kind}.md`;
    const page = pageOf(kind, { topics, tags });
    if (write) writeFileSync(join(root, file), page);
    else if (!existsSync(join(root, file)) || readFileSync(join(root, file), 'utf8') !== page)
      faults.push({ file, message: 'does not match the tests. Run: npm run docs:promises' });
  }
  return faults.map(({ file, line = 1, message }) => ({ file, line, message }));
}

/** The faults of a run, each `{file, line, message}`, from its JSON report. */
export function promisesInReport(root, { testFiles, report, isWhole }) {
  const lists = readPromises();
  const { tags } = byId(readTags(root, testFiles));
  const files = new Map([...tags].map(([id, own]) => [id, new Set(own.map(({ file }) => file))]));
  const promises = allPromises(lists);
  return reportFaults(report, { promises, files, isWhole }).map(({ id, message }) => ({
    file: fileOf(lists, id),
    line: 1,
    message: `${id}: ${message}`,
  }));
}

/** The faults of tags against the lists; `sources` are `{file, tags, most, faults}` of each test file. */
export function sourceFaults(lists, sources) {
  const { tags, most } = byId(sources);
  const promises = new Map(allPromises(lists).map((promise) => [promise.id, promise]));
  const faults = sources.flatMap((source) =>
    source.faults.map((fault) => ({ file: source.file, ...fault })),
  );
  for (const own of tags.values())
    for (const { id, file, line, titles, isSkipped } of own) {
      if (!promises.has(id))
        faults.push({ file, line, message: `test/promises has no promise ${id}` });
      else if (!isShown(promises.get(id)))
        faults.push({ file, line, message: `${id} is marked as one without "tests"` });
      if (isSkipped)
        faults.push({ file, line, message: `skips "${titles.join(' > ')}", which shows ${id}` });
    }
  for (const promise of promises.values()) {
    const { id, tests } = promise;
    const file = fileOf(lists, id);
    if (!isShown(promise)) continue;
    if (!tags.has(id)) faults.push({ file, message: `${id}: no test has promise('${id}')` });
    else if ((most.get(id) ?? 0) < tests)
      faults.push({
        file,
        message: `${id}: ${most.get(id) ?? 0} tests have its tag, not ${tests}`,
      });
  }
  return faults;
}

function readTags(root, testFiles) {
  return testFiles.flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    if (!text.includes('promise(')) return [];
    const options = { isShared: !isTestFile(file), hasMarkup: file.endsWith('.tsx') };
    return [{ file, ...tagsIn(text, options) }];
  });
}

/** Tags of all files by id, and the maximum number of tests for each. */
function byId(sources) {
  const tags = new Map();
  const most = new Map();
  for (const source of sources) {
    for (const tag of source.tags)
      tags.set(tag.id, [...(tags.get(tag.id) ?? []), { ...tag, file: source.file }]);
    for (const [id, count] of source.most) most.set(id, (most.get(id) ?? 0) + count);
  }
  return { tags, most };
}

function strayFaults() {
  return strayFiles().map((file) => ({ file, message: 'no topic of scripts/promises/list.mjs' }));
}

function fileOf(lists, id) {
  const topics = [...lists.guarantees, ...lists.requirements];
  return topics.find(({ promises }) => promises.some((one) => one.id === id)).file;
}
