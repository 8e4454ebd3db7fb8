/** `colloquy delete`: deletes a conversation, or a tenant, for good. */
import { ConversationClient } from '../../client/conversation-client.js';
import { createDeletions } from '../../projection/duties/deletions.js';
import { ConfigError, readConfig } from '../process/config.js';
import { exitNow } from '../process/process-life.js';
import { Progress } from '../terminal/progress.js';
import { isConfirmed, systemTerminal, type Terminal } from '../terminal/prompts.js';
import { openExistingLog, openTemporal } from './open.js';

export interface DeleteFlags {
  readonly tenant?: string;
  readonly conversation?: string;
  readonly data?: string;
  /** Without a question. */
  readonly yes?: boolean;
  /** Seconds to keep trying to reach Temporal and Postgres; 0 = one try. */
  readonly retry: number;
}

export async function runDelete(
  flags: DeleteFlags,
  terminal: Terminal = systemTerminal(),
): Promise<void> {
  const { tenant, conversation } = flags;
  if (tenant === undefined && conversation === undefined)
    throw new ConfigError('Say what to delete: --tenant <tenant>, or --conversation <id>');
  const what =
    conversation === undefined
      ? `all conversations of tenant ${tenant ?? ''}`
      : `conversation ${conversation}`;
  if (!(await isConfirmed(terminal, `Delete ${what} for good?`, flags))) {
    terminal.output.write('Nothing was deleted.\n');
    process.exitCode = 1;
    return;
  }
  const config = readConfig(process.env, { data: flags.data });
  const opened = await openExistingLog(config, flags.retry);
  const temporal = await openTemporal(config, flags.retry);
  const client = new ConversationClient({
    temporal,
    agents: [],
    deletions: createDeletions(opened),
    taskQueue: config.taskQueue,
    actor: { id: 'operator' },
  });
  if (conversation === undefined) {
    const progress = new Progress('conversations deleted', terminal.output);
    const { deleted } = await client
      .deleteTenant(tenant ?? '', {
        onDeleted: (count) => {
          progress.at(count);
        },
      })
      .finally(() => {
        progress.end();
      });
    process.stdout.write(`deleted ${deleted} conversations of tenant ${tenant ?? ''}\n`);
  } else {
    const options = tenant === undefined ? {} : { tenant };
    await client.deleteConversation(conversation, options);
    process.stdout.write(`deleted conversation ${conversation}\n`);
  }
  await opened.close();
  exitNow();
}
