/**
 * The Chromium that tests run: `COLLOQUY_CHROMIUM`, the build of the package on Linux x64, or an installed one. The
 * package has the browser packed, so it is unpacked once into the user's cache folder, which all checkouts share.
 */
import { execFile } from 'node:child_process';
import { constants, existsSync, readFileSync } from 'node:fs';
import { access, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { findPackageJSON } from 'node:module';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export interface InstalledBrowser {
  readonly executablePath: string;
  /** Added to the environment of the browser. */
  readonly env: Readonly<Record<string, string>>;
}

const VARIABLE = 'COLLOQUY_CHROMIUM';
const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const OF_SYSTEMS: Readonly<Record<string, readonly string[]>> = {
  darwin: [
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
  ],
  win32: ['C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe'],
};

/** The sandbox of Chromium does not start for root, as whom tests run in containers; pages of tests are our own. */
export const CHROMIUM_ARGS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--headless=shell'],
];

/**
 * As `chromiumPlace`, once the browser is there.
 * @throws Error naming what to install when this machine has no browser that tests can use
 */
export async function findChromium(): Promise<InstalledBrowser> {
  const place = chromiumPlace();
  if (place === undefined)
    throw new Error(
      `No browser for ${process.platform} ${process.arch}: install Chromium or Chrome, or set ${VARIABLE} to the path of one`,
    );
  const { executablePath, folder } = place;
  if (folder !== undefined && !existsSync(folder)) await unpackInto(folder);
  await access(executablePath, constants.X_OK).catch(() => {
    throw new Error(`${executablePath} is no program that can be run: set ${VARIABLE} to another`);
  });
  return place;
}

/** The place of the browser. `folder` is present for that of the package, which may not be unpacked yet. */
export function chromiumPlace(): (InstalledBrowser & { readonly folder?: string }) | undefined {
  const given = process.env[VARIABLE];
  if (given !== undefined && given !== '') return { executablePath: given, env: {} };
  if (process.platform === 'linux' && process.arch === 'x64') return ofPackage();
  const onPath = (process.env['PATH'] ?? '')
    .split(delimiter)
    .flatMap((folder) => NAMES.map((name) => join(folder, name)));
  const found = [...onPath, ...(OF_SYSTEMS[process.platform] ?? [])].find(existsSync);
  return found === undefined ? undefined : { executablePath: found, env: {} };
}

function ofPackage(): InstalledBrowser & { readonly folder: string } {
  const manifest = findPackageJSON('@sparticuz/chromium', import.meta.url);
  if (manifest === undefined) throw new Error('@sparticuz/chromium is not installed: npm ci');
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly version: string };
  const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  const folder = join(cache, 'colloquy', 'chromium', `${version}-with-libraries`);
  return {
    folder,
    executablePath: join(folder, 'chromium'),
    env: {
      FONTCONFIG_FILE: join(folder, 'fonts.conf'),
      LD_LIBRARY_PATH: join(folder, 'al2023', 'lib'),
    },
  };
}

/** Puts the whole folder in its place at once: files of tests start browsers at the same time. */
async function unpackInto(folder: string): Promise<void> {
  await mkdir(dirname(folder), { recursive: true });
  const draft = await mkdtemp(`${folder}-`);
  try {
    // The package unpacks to the temporary folder, in a process with another one.
    const script = "import chromium from '@sparticuz/chromium'; await chromium.executablePath();";
    await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], {
      cwd: dirname(fileURLToPath(import.meta.url)),
      // The package unpacks the libraries that the browser needs, such as NSS, only where it takes itself to be in
      // Lambda.
      env: { ...process.env, TMPDIR: draft, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs22.x' },
    });
    await writeFile(join(draft, 'fonts.conf'), fontsIn(folder));
    await rename(draft, folder).catch((error: unknown) => {
      // Another process was faster.
      if (!existsSync(folder)) throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** The fonts of the package alone, so that pages are as wide on every machine. */
function fontsIn(folder: string): string {
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>${folder}/fonts</dir><cachedir>${folder}/fonts-cache</cachedir></fontconfig>
`;
}
