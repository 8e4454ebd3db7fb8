// Checks promises against the JSON report of a vitest run: every promise whose files ran has its number of tests, and
// none was skipped.

/** Tests that only `npm test -- --all` runs. */
const OPTIONAL = /\/(?:real-model|attack)\//;

/**
 * The faults, each `{id, message}`. `files` is a Map from an id to the files under test/ that have its tag. `isWhole`
 * states that the report covers a complete run, in which only the tests that need Python may be missing. A failed test
 * counts as run, because it fails the run by itself.
 */
export function reportFaults(report, { promises, files, isWhole }) {
  const ran = new Set(report.testResults.map(({ name }) => name));
  const isInReport = (file) => [...ran].some((name) => name.endsWith(`/${file}`));
  const tests = testsById(report);
  return promises.flatMap(({ id, tests: wanted }) => {
    if (wanted === undefined) return [];
    const fault = (message) => [{ id, message }];
    const own = tests.get(id) ?? [];
    const skipped = own.find(({ status }) => status !== 'passed' && status !== 'failed');
    if (skipped !== undefined) return fault(`skipped "${skipped.title}"`);
    const tagged = [...(files.get(id) ?? [])];
    const missing = tagged.filter((file) => isTestFile(file) && !isInReport(file));
    const lost = isWhole ? missing.filter((file) => !OPTIONAL.test(file)) : [];
    if (lost.length > 0) return fault(`${lost.join(', ')} did not run`);
    // Tests of shared files run in several test files, so only a complete run has all of them.
    const isCounted = missing.length === 0 && (isWhole || tagged.every(isTestFile));
    if (isCounted && own.length < wanted)
      return fault(`ran ${own.length} tests with this tag, not ${wanted}`);
    return [];
  });
}

export function isTestFile(file) {
  return /\.test\.tsx?$/.test(file);
}

function testsById(report) {
  const tests = new Map();
  for (const { assertionResults } of report.testResults)
    for (const test of assertionResults)
      for (const id of test.tags) tests.set(id, [...(tests.get(id) ?? []), test]);
  return tests;
}
