/** `colloquy init`: writes a project with one agent, its test, and the commands to run it. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ConfigError } from '../process/config.js';
import { copyFetched } from './copy-fetched.js';

export interface InitFlags {
  /** Version, range or path of this package in the project. @defaultValue its own version */
  readonly package?: string;
}

/** Files of the example, which is in the package. */
const EXAMPLE = new URL('../../../examples/getting-started/', import.meta.url);
const MANIFEST = new URL('../../../package.json', import.meta.url);

interface Manifest {
  readonly version: string;
  readonly engines: { readonly node: string };
  readonly dependencies: Readonly<Record<string, string>>;
}

/** @throws {ConfigError} when the folder has anything in it already */
export async function runInit(folder: string, flags: InitFlags): Promise<void> {
  const path = resolve(folder);
  const found = await readdir(path).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw new ConfigError(`${path} cannot be used: ${(error as Error).message}`);
  });
  // A new repository is as good as an empty folder.
  const others = found.filter((name) => name !== '.git');
  if (others.length > 0)
    throw new ConfigError(
      `${path} is not empty (it has ${others.slice(0, 3).join(', ')}); nothing was written. Name a new folder`,
    );
  await mkdir(path, { recursive: true });
  const manifest = JSON.parse(await readFile(MANIFEST, 'utf8')) as Manifest;
  const files = await filesOf(basename(path), manifest, flags);
  for (const [name, { text }] of Object.entries(files)) await writeFile(join(path, name), text);
  copyFetched(dirname(dirname(fileURLToPath(MANIFEST))), path);
  process.stdout.write(`${summary(folder, files)}\n`);
}

interface ProjectFile {
  readonly text: string;
  readonly purpose: string;
}

async function filesOf(
  folder: string,
  manifest: Manifest,
  flags: InitFlags,
): Promise<Readonly<Record<string, ProjectFile>>> {
  const example = async (name: string): Promise<string> =>
    await readFile(fileURLToPath(new URL(name, EXAMPLE)), 'utf8');
  return {
    'agents.ts': {
      text: await example('agents.ts'),
      purpose: 'an agent with one tool, which needs an approval',
    },
    'agents.test.ts': {
      text: await example('agents.test.ts'),
      purpose: 'its tests, without a server or a key',
    },
    'package.json': {
      text: packageJson(folder, manifest, flags),
      purpose: 'npm run dev, npm test',
    },
    'tsconfig.json': { text: TSCONFIG, purpose: 'for your editor, and npm run check' },
    '.gitignore': { text: 'node_modules\n.colloquy\n.env\n', purpose: 'local data stays local' },
  };
}

function packageJson(folder: string, manifest: Manifest, flags: InitFlags): string {
  const { version, engines, dependencies } = manifest;
  return asFile({
    name: packageName(folder),
    private: true,
    type: 'module',
    engines,
    scripts: {
      dev: 'colloquy dev --agents agents.ts',
      test: 'node --test',
      check: 'tsc',
    },
    dependencies: {
      colloquy: flags.package ?? `^${version}`,
      zod: `^${dependencies['zod'] ?? '4'}`,
    },
    devDependencies: { '@types/node': '^24', typescript: '^6' },
  });
}

/** A name that npm takes: lower case, and no other characters than these. */
function packageName(folder: string): string {
  const name = folder
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');
  return name === '' ? 'agents' : name;
}

const TSCONFIG = asFile({
  compilerOptions: {
    target: 'ES2023',
    module: 'NodeNext',
    strict: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    skipLibCheck: true,
  },
});

function asFile(json: object): string {
  return `${JSON.stringify(json, undefined, 2)}\n`;
}

function summary(folder: string, files: Readonly<Record<string, ProjectFile>>): string {
  return [
    `Wrote ${folder}:`,
    ...Object.entries(files).map(([name, { purpose }]) => `  ${name.padEnd(16)}${purpose}`),
    '',
    'Next:',
    `  cd ${folder}`,
    '  npm install',
    '  npm test',
    '  npm run dev     Temporal, a worker and the API, until Ctrl-C; then, in another terminal:',
    '  npx colloquy chat --agent support',
    'or, one command after the other:',
    '  npx colloquy send order-42 "My order arrived broken." --agent support',
    '  npx colloquy pending',
  ].join('\n');
}
