/** Watches the source files of an agents module, so that a changed one is served at once. */
import { dirname, resolve, sep } from 'node:path';
import { watch } from 'chokidar';

const SOURCE = /\.(?:[cm]?[jt]s|json)$/;
/** Editors and formatters write several files, one after the other. */
const SETTLED_MS = 200;

export interface SourceWatchOptions {
  /** Folders in which nothing is watched, besides `node_modules` and those whose name begins with a dot. */
  readonly except: readonly string[];
  /** Called once after changes have settled, with one of the changed files. */
  readonly onChange: (file: string) => void;
}

/** Watches the folder of the module. Resolves to a function that ends it, once it watches. */
export async function watchSources(
  module: string,
  { except, onChange }: SourceWatchOptions,
): Promise<() => Promise<void>> {
  const root = dirname(resolve(module));
  let timer: NodeJS.Timeout | undefined;
  const watcher = watch(root, {
    ignoreInitial: true,
    ignored: (path, stats) =>
      isOutside(root, path, except) || (stats?.isFile() === true && !SOURCE.test(path)),
  });
  watcher.on('all', (_event, path) => {
    if (!SOURCE.test(path)) return;
    clearTimeout(timer);
    timer = setTimeout(onChange, SETTLED_MS, path);
  });
  // Without watchers of the system left, the stack still runs.
  watcher.on('error', () => undefined);
  await new Promise<void>((ready) => {
    watcher.once('ready', ready);
  });
  return async () => {
    clearTimeout(timer);
    await watcher.close();
  };
}

function isOutside(root: string, path: string, except: readonly string[]): boolean {
  if (except.some((folder) => path === folder || path.startsWith(`${folder}${sep}`))) return true;
  const below = path.slice(root.length).split(sep);
  return below.some((name) => name === 'node_modules' || name.startsWith('.'));
}
