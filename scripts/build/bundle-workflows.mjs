// Writes dist/workflow-bundle.js, the prebuilt sandbox code that a worker loads. Does nothing when its inputs are
// unchanged.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { decode, encode } from '@jridgewell/sourcemap-codec';

const root = fileURLToPath(new URL('../..', import.meta.url));
const at = (path) => `${root}${path}`;
const bundleFile = at('dist/workflow-bundle.js');
const recordFile = at('dist/workflow-bundle.json');
const keyFile = at('dist/workflow-bundle.key');
const entry = at('dist/workflows/index.js');

if (!existsSync(entry)) {
  console.error('bundle-workflows: dist/workflows/index.js is missing. Run: npm run build');
  process.exit(1);
}

const OTHER_INPUTS = [
  'package.json',
  'package-lock.json',
  'dist/worker/temporal/bundle.js',
  'scripts/build/bundle-workflows.mjs',
];
const key = inputsKey();
const isWhole = [bundleFile, recordFile, keyFile].every((file) => existsSync(file));
if (isWhole && readFileSync(keyFile, 'utf8') === key) process.exit(0);

const { bundleWorkflowCode } = await import('@temporalio/worker');
const { BUNDLE_OPTIONS, installedSdk } = await import('../../dist/worker/temporal/bundle.js');
const problems = [];
const note = (level) => (message) =>
  level === 'quiet' ? undefined : problems.push(`${level}: ${message}`);
const logger = {
  log: (level, message) => note(level === 'WARN' || level === 'ERROR' ? level : 'quiet')(message),
  trace: note('quiet'),
  debug: note('quiet'),
  info: note('quiet'),
  warn: note('WARN'),
  error: note('ERROR'),
};
const started = performance.now();
try {
  const made = await bundleWorkflowCode({ ...BUNDLE_OPTIONS, logger });
  const code = withLinesAlone(made.code);
  rmSync(keyFile, { force: true });
  writeWhole(bundleFile, code);
  // A worker that runs with another version builds a bundle of its own.
  writeWhole(recordFile, JSON.stringify({ sdk: installedSdk() }));
  writeWhole(keyFile, key);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.error(`workflow bundle: ${Math.round(code.length / 1024)} kB in ${seconds} s`);
} catch (error) {
  console.error(
    `bundle-workflows: the workflow bundle could not be built: ${error.message ?? error}`,
  );
  process.exitCode = 1;
}
for (const problem of problems) console.error(problem);

/**
 * The bundle with what stack traces need of its source map: the file and line of each position. The texts of the
 * sources, which are packages of their own, and the columns are two thirds of it.
 */
function withLinesAlone(code) {
  const [, before, encoded] =
    /^([^]*\/\/# sourceMappingURL=[^]*?base64,)([A-Za-z0-9+/=]+)\s*$/.exec(code) ?? [];
  if (encoded === undefined) throw new Error('the bundle has no source map');
  const map = JSON.parse(Buffer.from(encoded, 'base64').toString('utf8'));
  delete map.sourcesContent;
  const lines = decode(map.mappings).map((segments) => segments.filter(beginsLine));
  const thin = {
    ...map,
    // Without the folder of the machine that has built it.
    sources: map.sources.map((source) => source.replace(root, 'colloquy/')),
    names: [],
    mappings: encode(lines.map((line) => line.map((segment) => segment.slice(0, 4)))),
  };
  return before + Buffer.from(JSON.stringify(thin)).toString('base64');
}

/** Whether a segment leads to another line than the one before it. */
function beginsLine([, source, line], index, segments) {
  const [, previousSource, previousLine] = segments[index - 1] ?? [];
  return source !== previousSource || line !== previousLine;
}

/** The inputs of the bundle: the compiled sandbox folders and the locked versions of the packages. */
function inputsKey() {
  const folders = ['workflows', 'core', 'protocol', 'json-schema'];
  const inputs = folders.flatMap((folder) =>
    readdirSync(at(`dist/${folder}`), { recursive: true })
      .filter((file) => file.endsWith('.js'))
      .map((file) => `dist/${folder}/${file}`),
  );
  const hash = createHash('sha256');
  for (const file of [...inputs.sort(), ...OTHER_INPUTS]) {
    if (existsSync(at(file)))
      hash
        .update(file)
        .update('\0')
        .update(readFileSync(at(file)))
        .update('\0');
  }
  return hash.digest('hex');
}

/** Writes atomically, so that a concurrent reader never sees a partial file. */
function writeWhole(file, text) {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, text);
  renameSync(draft, file);
}
