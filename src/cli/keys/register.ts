/** Adds the commands on API keys to the program. Each is loaded when it runs. */
import type { Command } from 'commander';
import { retry } from '../process/options.js';
import type { CreateFlags, KeysFlags, RotateFlags } from './keys-command.js';

const gathered = (value: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  value,
];

export function addKeyCommands(program: Command): void {
  const keys = program.command('keys').description('API keys: make, list, rotate, revoke');
  const command = (usage: string, description: string): Command =>
    keys
      .command(usage)
      .description(description)
      .option('--json', 'print JSON')
      .option('--data <folder>', 'folder of the event log (COLLOQUY_DATA)')
      .option(...retry(0));
  command('create', 'Make a key, and print it: it is not stored, and not shown again')
    .requiredOption('--name <name>', 'id of the actor of all that is sent with the key')
    .requiredOption(
      '--right <rights>',
      'read, send, answer, extend, cancel, delete, codec, admin, act-as; several with commas',
      gathered,
    )
    .option('--tenant <tenant>', 'may be repeated; the first is the default ("default")', gathered)
    .option('--role <role>', 'a role of the actor; may be repeated', gathered)
    .option('--expires <duration>', 'such as "90 days"; otherwise never')
    .action(async (flags: CreateFlags) => {
      const { runCreateKey } = await import('./keys-command.js');
      await runCreateKey(flags);
    });
  command('list', 'List all keys, without their secrets').action(async (flags: KeysFlags) => {
    const { runListKeys } = await import('./keys-command.js');
    await runListKeys(flags);
  });
  command('rotate <id>', 'Give a key a new secret, and print it')
    .option('--grace <duration>', 'how long the old secret is valid', '1 day')
    .action(async (id: string, flags: RotateFlags) => {
      const { runRotateKey } = await import('./keys-command.js');
      await runRotateKey(id, flags);
    });
  command('revoke <id>', 'Refuse a key from now on').action(
    async (id: string, flags: KeysFlags) => {
      const { runRevokeKey } = await import('./keys-command.js');
      await runRevokeKey(id, flags);
    },
  );
}
