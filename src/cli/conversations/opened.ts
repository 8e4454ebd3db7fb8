/** Opens what the commands on conversations need: the client of an operator, on the event log of the workers. */
import { userInfo } from 'node:os';
import type { ConversationClient } from '../../client/conversation-client.js';
import { openColloquy } from '../../engine/open-colloquy.js';
import type { Actor } from '../../protocol/values/actors.js';
import { requireEventLog } from '../operate/open.js';
import { readConfig } from '../process/config.js';
import { createPino, loggerOf } from '../process/logging.js';
import { endWhenUnread, exitNow } from '../process/process-life.js';

export interface CommonFlags {
  readonly tenant?: string | undefined;
  readonly data?: string | undefined;
  readonly json?: boolean;
  /** Seconds to keep trying to reach Temporal and Postgres; 0 = one try. */
  readonly retry: number;
}

/** The options by which the next command finds the same conversation. */
export function optionsAgain({
  tenant,
  data,
}: Pick<CommonFlags, 'tenant' | 'data'>): readonly string[] {
  return [
    ...(tenant === undefined ? [] : ['--tenant', tenant]),
    ...(data === undefined ? [] : ['--data', data]),
  ];
}

/** The options of commands that act in the name of a person. */
export interface ActorFlags extends CommonFlags {
  readonly as?: string;
  readonly role?: readonly string[];
}

export interface Opened {
  readonly client: ConversationClient;
  /** Prints one line, or a text of several. */
  readonly print: (text: string) => void;
}

/**
 * Runs a command, closes what it has opened, and ends the process: with 0, or with the number that the command returns.
 * @throws {ConfigError} {TemporalUnreachable} {StoreUnavailable} {ConversationError}
 */
export async function withClient(
  flags: ActorFlags,
  run: (opened: Opened) => Promise<0 | 1>,
): Promise<never> {
  const config = readConfig(process.env, { data: flags.data });
  requireEventLog(config);
  const colloquy = await openColloquy({
    store: config.eventLog,
    blobs: config.blobs,
    compression: config.compression,
    retryForMs: flags.retry * 1_000,
    logger: loggerOf(createPino(config, 'colloquy-operate')),
    taskQueue: config.taskQueue,
    tenant: flags.tenant,
    searchAttributes: config.searchAttributes,
    pageUrl: config.pageUrl,
    patience: config.patience,
    actor: actorOf(flags),
  });
  endWhenUnread();
  const print = (text: string): void => {
    process.stdout.write(`${text}\n`);
  };
  const code = await run({ client: colloquy.client, print });
  await colloquy.close();
  exitNow(code);
}

/** The user of the operating system, unless the command names another one. */
function actorOf({ as, role }: ActorFlags): Actor {
  return { id: as ?? systemUser(), ...(role === undefined ? {} : { roles: role }) };
}

/** In a container the process may run as a number that no user has. */
function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return 'operator';
  }
}

export function asJson(value: unknown): string {
  return JSON.stringify(value, undefined, 2);
}

/** The line under a page that is not the last; none under the last one. */
export function printNextPage(print: Opened['print'], cursor: string | undefined): void {
  if (cursor !== undefined) print(`\nThere are more: --cursor ${cursor}`);
}
