/** Conversations whose workflow tasks never complete, checked now, and the command that helps each of them. */
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { GRPC, grpcCodeOf } from '../../client/temporal/errors.js';
import { troubleOf } from '../../client/temporal/find-trouble.js';
import { type ConversationKey, conversationKey, workflowIdFor } from '../../protocol/values/ids.js';
import type { Trouble } from '../../protocol/values/trouble.js';
import type { Troubled, Troubles } from '../../store/ports/troubles.js';
import type { WorkflowSource } from '../source/workflow-source.js';

export interface TroubledBy {
  readonly client: Client;
  readonly source: Pick<WorkflowSource, 'reported'>;
  /** Absent: marks are not known. */
  readonly log?: Pick<Troubles, 'troubles'> | undefined;
}

/**
 * Conversations with a mark in the store, and those that the server itself reports, `limit` at most; the present state
 * of each is checked. With a `tenant`, its conversations alone. @throws errors of the store, and of the server
 */
export async function troubledConversations(
  { client, source, log }: TroubledBy,
  { limit, tenant }: { readonly limit: number; readonly tenant?: string },
): Promise<readonly Troubled[]> {
  const keys = new Map<string, ConversationKey>();
  const after = tenant === undefined ? {} : { after: { tenant, conversationId: '' } };
  const isMeant = (key: ConversationKey): boolean => tenant === undefined || key.tenant === tenant;
  for (const { tenant: of, conversationId } of (await log?.troubles({ limit, ...after })) ?? []) {
    const key = { tenant: of, conversationId };
    if (isMeant(key)) keys.set(conversationKey(key), key);
  }
  let looked = 0;
  try {
    for await (const key of source.reported?.() ?? []) {
      if (keys.size >= limit || looked >= MAX_LOOKED) break;
      looked += 1;
      if (isMeant(key)) keys.set(conversationKey(key), key);
    }
  } catch (error) {
    // A server that reports none does not know the search attribute.
    if (grpcCodeOf(error) !== GRPC.invalidArgument) throw error;
  }
  const found: Troubled[] = [];
  for (const key of keys.values()) {
    const trouble = await troubleNow(client, key);
    if (trouble !== undefined) found.push({ ...key, trouble });
  }
  return found;
}

/** Reported conversations that are looked at, also those of other tenants. */
const MAX_LOOKED = 1_000;

/** A mark may outlive its workflow, for instance on a newly installed server: then there is no trouble. */
async function troubleNow(client: Client, key: ConversationKey): Promise<Trouble | undefined> {
  try {
    const run = await client.workflow.getHandle(workflowIdFor(key)).describe();
    return await troubleOf(client, run);
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

export function repairCommand({ tenant, conversationId }: ConversationKey): string {
  return `npx colloquy repair ${conversationId}${ofTenant(tenant)}`;
}

/** The option that names a tenant, for commands about one conversation. */
export function ofTenant(tenant: string): string {
  return tenant === 'default' ? '' : ` --tenant ${tenant}`;
}

export const START_WORKER = 'npx colloquy worker --agents <module>';
