/** `colloquy delete`: deletes a conversation, or a tenant, for good. */
import { existsSync } from 'node:fs';
import { ConversationClient } from '../../client/conversation-client.js';
import { connectClient, temporalSettings } from '../../client/temporal/connection.js';
import { createDeletions } from '../../projection/duties/deletions.js';
import { openEventLog } from '../../projection/source/open-log.js';
import { type Config, ConfigError, readConfig } from '../process/config.js';
import { createPino, loggerOf } from '../process/logging.js';
import { exitNow } from '../process/process-life.js';

export interface DeleteFlags {
  readonly tenant?: string;
  readonly conversation?: string;
  readonly data?: string;
  /** Seconds to keep trying to reach Temporal; 0 = one try. */
  readonly retry: number;
}

export async function runDelete(flags: DeleteFlags): Promise<void> {
  const { tenant, conversation } = flags;
  if (tenant === undefined && conversation === undefined)
    throw new ConfigError('Say what to delete: --tenant <tenant>, or --conversation <id>');
  const config = readConfig(process.env, { data: flags.data });
  requireLog(config);
  const log = createPino(config, 'colloquy-delete');
  const temporal = await connectClient(temporalSettings(), {
    retryForMs: flags.retry * 1_000,
    logger: loggerOf(log),
  });
  const opened = await openEventLog(config.eventLog, {
    blobs: config.blobs,
    logger: loggerOf(log),
  });
  const client = new ConversationClient({
    temporal,
    agents: [],
    deletions: createDeletions(opened),
    taskQueue: config.taskQueue,
    actor: { id: 'operator' },
  });
  if (conversation === undefined) {
    const { deleted } = await client.deleteTenant(tenant ?? '');
    process.stdout.write(`deleted ${deleted} conversations of tenant ${tenant ?? ''}\n`);
  } else {
    const options = tenant === undefined ? {} : { tenant };
    await client.deleteConversation(conversation, options);
    process.stdout.write(`deleted conversation ${conversation}\n`);
  }
  await opened.close();
  exitNow();
}

/**
 * A log opened in the wrong folder would be created there, empty: the runs would be deleted, and the real log would
 * keep its content.
 */
function requireLog({ eventLog }: Config): void {
  if (/^postgres(ql)?:/.test(eventLog) || existsSync(eventLog)) return;
  throw new ConfigError(
    `No event log at ${eventLog}; nothing was deleted. Say where it is: --data or COLLOQUY_DATA, or COLLOQUY_DATABASE_URL`,
  );
}
