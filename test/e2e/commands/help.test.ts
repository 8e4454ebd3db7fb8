/** The help texts of the commands. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../support/temporary.js';
import { colloquy, failure, ROOT, start } from '../support/processes.js';

describe('help', () => {
  it.each([
    [
      ['--help'],
      [
        'worker [options]',
        'serve [options]',
        'dev [options]',
        'check [options]',
        'doctor [options]',
        'repair [options] <conversation>',
        'TEMPORAL_ADDRESS',
        'COLLOQUY_DATA',
        'COLLOQUY_PORT',
        './temporal-dev.sh',
      ],
    ],
    [
      ['worker', '--help'],
      [
        '--agents <module>',
        '--data <folder>',
        '--retry <seconds>',
        '--drain <seconds>',
        'Example: ',
      ],
    ],
    [
      ['serve', '--help'],
      ['--port <number>', '--host <address>', 'Example: '],
    ],
    [
      ['dev', '--help'],
      ['--agents <module>', '--data <folder>', '--port <number>'],
    ],
    [
      ['check', '--help'],
      ['--agents <module>', '--against <store>', '--json', 'Exit code 1', 'Example: '],
    ],
    [
      ['doctor', '--help'],
      ['--data <folder>', '--json', '--retry <seconds>', 'Exits with 0 when nothing failed'],
    ],
    [
      ['repair', '--help'],
      ['--tenant <tenant>', '--apply', '--json', 'Exits with 0 when nothing is left', 'Example: '],
    ],
  ])('of colloquy %j lists commands and options', async (args, words) => {
    const command = colloquy(args);
    expect(await command.ended).toBe(0);
    for (const word of words) expect(command.stdout()).toContain(word);
    expect(command.stderr()).toBe('');
  });

  it('includes the version of the package', async () => {
    const command = colloquy(['--version']);
    expect(await command.ended).toBe(0);
    expect(command.stdout()).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it('follows the error when a command is misspelt or lacks a required option', async () => {
    const misspelt = await failure(colloquy(['wroker']));
    expect(misspelt).toContain("unknown command 'wroker'");
    expect(misspelt).toContain('Did you mean worker?');
    const lacking = await failure(colloquy(['worker']));
    expect(lacking).toContain("required option '--agents <module>' not specified");
    expect(lacking).toContain('Example: ');
  });

  it.each([
    ['npm start', 'start.js', ['--port <number>', 'TEMPORAL_ADDRESS', 'OPENAI_API_KEY', 'Ctrl-C']],
    ['npm run demo', 'run.js', ['--keep', '--temporal-port <n>', 'OPENAI_API_KEY']],
  ])('of %s starts nothing', async (_, script, words) => {
    const file = join(ROOT, 'dist', 'examples', 'demo', script);
    const command = start(process.execPath, [file, '--help']);
    expect(await command.ended).toBe(0);
    for (const word of words) expect(command.stdout()).toContain(word);
    const wrong = start(process.execPath, [file, '--prot', '1']);
    expect(await failure(wrong)).toContain("Unknown option '--prot'");
  });
});

describe('colloquy delete', () => {
  it('deletes nothing and creates nothing in a folder without an event log', async () => {
    const data = join(temporaryFolder(), 'typo');
    const said = await failure(colloquy(['delete', '--conversation', 'c1', '--data', data]));
    expect(said).toContain(`No event log at ${join(data, 'log.db')}; nothing was done`);
    expect(said).toContain('--data or COLLOQUY_DATA');
    expect(existsSync(data)).toBe(false);
  });
});
