import { chmod, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeDataFolder } from '../../../src/cli/data/data-folder.js';
import { startStack } from '../../../src/cli/dev/stack.js';
import { runServe } from '../../../src/cli/serve/serve-command.js';

async function folder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'data-'));
  onTestFinished(() => rm(made, { recursive: true, force: true }));
  return made;
}

const RULE = 'COLLOQUY_DATA (--data) must be a folder that can be made and written: ';

describe('the data folder', () => {
  it('is made with the folders above it', async () => {
    const dataDir = join(await folder(), 'a', 'b');
    await makeDataFolder({ dataDir });
    expect((await stat(dataDir)).isDirectory()).toBe(true);
  });

  it('is refused with path, variable and rule where files are in its place', async () => {
    const file = join(await folder(), 'file');
    await writeFile(file, '');
    await expect(makeDataFolder({ dataDir: file })).rejects.toThrow(
      `${RULE}${file} cannot, because it is a file`,
    );
    const below = join(file, 'data');
    const said = `${RULE}${below} cannot, because a part of its path is a file`;
    await expect(makeDataFolder({ dataDir: below })).rejects.toThrow(said);
    const stack = startStack({ agentsModule: './none.js', dataDir: below, apiPort: 0 });
    await expect(stack).rejects.toThrow(said);
    const flags = { data: below, retry: 0, drain: 0 };
    await expect(runServe(flags)).rejects.toThrow(said);
  });

  it('is refused where it may not be written, unless the event log is in a database', async () => {
    const dataDir = await folder();
    await chmod(dataDir, 0o555);
    const made = makeDataFolder({ dataDir });
    // The superuser may write everywhere.
    if (process.getuid?.() === 0) await made;
    else
      await expect(made).rejects.toThrow(
        `${RULE}${dataDir} cannot, because it may not be written by this user`,
      );
    await makeDataFolder({ dataDir, eventLog: 'postgres://localhost/log' });
  });
});
