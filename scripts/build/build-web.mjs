// Builds the web page of `web/` into dist/ui. Does nothing when its inputs are unchanged.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const root = fileURLToPath(new URL('../..', import.meta.url));
const at = (path) => `${root}${path}`;
const keyFile = at('dist/.tsbuildinfo/ui.key');
/** The page imports the built package, as pages of users do. */
const BUILT = ['browser', 'react', 'net', 'core', 'protocol'].map((name) => `dist/${name}`);

const key = inputsKey();
const isBuilt = existsSync(at('dist/ui/index.html')) && existsSync(keyFile);
if (isBuilt && readFileSync(keyFile, 'utf8') === key) process.exit(0);

const { build } = await import('vite');
const started = performance.now();
const draft = `dist/ui-${process.pid}`;
process.on('exit', () => rmSync(at(draft), { recursive: true, force: true }));
await build({
  configFile: false,
  root: at('web'),
  base: '/ui/',
  logLevel: 'warn',
  build: {
    outDir: at(draft),
    emptyOutDir: true,
    // The files of each face, for the tests of their sizes.
    manifest: true,
    target: 'es2022',
    // Data addresses are not of the page's own origin, so its policy refuses them.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
});
rmSync(keyFile, { force: true });
rmSync(at('dist/ui'), { recursive: true, force: true });
renameSync(at(draft), at('dist/ui'));
writeFileSync(keyFile, key);
const bytes = readdirSync(at('dist/ui/assets')).map(
  (file) => gzipSync(readFileSync(at(`dist/ui/assets/${file}`))).length,
);
const kilobytes = (bytes.reduce((sum, one) => sum + one, 0) / 1000).toFixed(1);
const seconds = ((performance.now() - started) / 1000).toFixed(1);
console.error(`web page: ${kilobytes} kB with gzip in ${seconds} s`);

function inputsKey() {
  const inputs = ['web', ...BUILT].flatMap((folder) =>
    readdirSync(at(folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !/\.(?:d\.ts|map)$/.test(entry.name))
      .map(({ name, parentPath }) => `${parentPath}/${name}`),
  );
  const hash = createHash('sha256');
  const own = ['package.json', 'package-lock.json', 'scripts/build/build-web.mjs'].map(at);
  for (const file of [...inputs.sort(), ...own])
    hash.update(file.slice(root.length)).update('\0').update(readFileSync(file)).update('\0');
  return hash.digest('hex');
}
