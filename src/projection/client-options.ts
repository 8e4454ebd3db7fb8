/**
 * Makes the options of a `ConversationClient` from an opened event log: all of them, so that no feature is silently
 * off.
 */
import type { Client } from '@temporalio/client';
import type { AskedAgents } from '../client/ports/agents.js';
import type { BlobsPort } from '../client/ports/blobs.js';
import type { DeletionsPort } from '../client/ports/deletions.js';
import type { LeasesPort } from '../client/ports/leases.js';
import type { ConversationReader } from '../client/ports/reader.js';
import type { AgentManifest } from '../protocol/conversation/agents.js';
import type { ConversationKey } from '../protocol/values/ids.js';
import type { Trouble } from '../protocol/values/trouble.js';
import { createDeletions } from './duties/deletions.js';
import { knownAgents } from './duties/known-agents.js';
import { createLeases } from './duties/leases.js';
import { TroubleWatch } from './duties/trouble-watch.js';
import { createStoreReader } from './reading/store-reader.js';
import type { OpenLog } from './source/open-log.js';
import { type ProjectionLogger, SILENT } from './source/outages.js';
import { createWorkflowSource } from './source/workflow-source.js';

export interface LogOptions {
  readonly temporal: Client;
  /** The agents that workers have published in the store, and those that are documents in it; read each time. */
  readonly agents: (asked?: AskedAgents) => Promise<readonly AgentManifest[]>;
  readonly reader: ConversationReader;
  readonly leases: LeasesPort;
  readonly deletions: DeletionsPort;
  readonly blobs: BlobsPort | undefined;
  readonly storeId: () => Promise<string>;
  /** Marks the conversation in the store, for lists and `colloquy doctor`, and logs it. */
  readonly onTrouble: (key: ConversationKey, trouble: Trouble) => void;
}

/**
 * Options of `new ConversationClient`, wired as `colloquy serve` wires them: reads include the writes of this process
 * even if the store does not have them yet, and leases are renewed without history. `opened` stays the caller's, who
 * closes it. Sends no request. `logger` gets a line for each conversation whose workflow fails or is slow.
 */
export function clientOptionsFrom(
  opened: OpenLog,
  temporal: Client,
  logger: ProjectionLogger = SILENT,
): LogOptions {
  const { log, live, blobs, documents } = opened;
  const troubles = new TroubleWatch({ log, logger });
  return {
    temporal,
    agents: knownAgents(opened),
    reader: createStoreReader({
      ...{ log, live, blobs, documents, logger },
      source: createWorkflowSource(temporal),
    }),
    leases: createLeases(opened),
    deletions: createDeletions(opened),
    blobs,
    storeId: () => log.storeId(),
    onTrouble: (key, trouble) => void troubles.found(key, trouble),
  };
}
