/** The built files of the web page, in memory: a few, which do not change while the process runs. */
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

/** From `src` and from `dist` alike. */
const BUILT = new URL('../../../dist/ui/', import.meta.url);
const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};

export interface PageFile {
  readonly type: string;
  readonly body: Buffer;
  readonly gzipped: Buffer;
}

/** Files by their path within the folder, such as `assets/index-Bc1x.js`. */
export type PageFiles = ReadonlyMap<string, PageFile>;

/** Reads the files of known types. Empty where the page has not been built. @throws Error when one cannot be read */
export async function readPage(folder: URL = BUILT): Promise<PageFiles> {
  const files = new Map<string, PageFile>();
  for (const path of await pathsIn(folder)) {
    const type = TYPES[path.slice(path.lastIndexOf('.') + 1)];
    if (type === undefined) continue;
    const body = await readFile(new URL(path, folder));
    files.set(path, { type, body, gzipped: await promisify(gzip)(body) });
  }
  return files;
}

async function pathsIn(folder: URL): Promise<readonly string[]> {
  try {
    const paths = await readdir(folder, { recursive: true });
    return paths.map((path) => path.replaceAll('\\', '/'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
