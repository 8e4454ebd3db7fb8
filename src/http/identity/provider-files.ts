/**
 * Owners of the files at a model's provider that callers name by id (`fileId`). All tenants may share one account at
 * the provider, which then gives each file to every request that names it.
 */
import { invalidField } from '../../client/api/errors.js';
import type { StampedActor } from '../../protocol/values/actors.js';
import { attachmentProblems } from '../../protocol/values/attachments.js';
import type { ConversationKey } from '../../protocol/values/ids.js';
import { isRecord } from '../../protocol/values/json.js';
import { type Identify, isForDevelopment } from './identity.js';

/** A file that a caller names for a message, an answer or a result. */
export interface ProviderFile extends ConversationKey {
  readonly fileId: string;
  /** The caller, or the actor that it names by its right `act-as`. */
  readonly actor: StampedActor;
}

export interface ProviderFiles {
  /**
   * Whether the file is the tenant's, or the actor's. It is asked once for each id of a request, before anything is
   * sent. A rejection lets no request in: it is answered by its problem, or 500.
   */
  owns(file: ProviderFile): boolean | Promise<boolean>;
}

export interface FileRules {
  readonly identify: Identify;
  readonly providerFiles?: ProviderFiles;
}

/** The parts of a message or an answer, as the caller gave them. */
interface GivenParts {
  readonly parts: unknown;
  /** JSON Pointer of the parts in the body. */
  readonly path: string;
}

const NOT_OWNED = 'must be the id of a file that the caller may use at the provider of the model';
const NOT_CONFIGURED =
  'must be left out: this API does not know the owners of files at the provider (createApp({ providerFiles }), or ' +
  'COLLOQUY_PROVIDER_FILES). ' +
  'POST /v1/conversations/{id}/blobs stores a file';

/**
 * Refuses ids of files that are not the caller's. Without `providerFiles` every id is refused, except those of a
 * development actor. Parts that break a rule are left to the check of their form, which refuses all of them.
 * @throws {ConversationError} invalid_request naming the field
 */
export async function requireOwnFiles(
  { identify, providerFiles }: FileRules,
  owner: Omit<ProviderFile, 'fileId'>,
  { parts, path }: GivenParts,
): Promise<void> {
  const { tenant, conversationId, actor } = owner;
  for (const [fileId, index] of fileIdsIn(parts)) {
    const field = `${path}/${index}/source/fileId`;
    if (providerFiles === undefined) {
      if (isForDevelopment(identify)) return;
      throw invalidField(field, NOT_CONFIGURED);
    }
    if (!(await providerFiles.owns({ tenant, conversationId, actor, fileId })))
      throw invalidField(field, NOT_OWNED);
  }
}

/** Each id once, with the index of the first part that has it. */
function fileIdsIn(parts: unknown): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  if (!Array.isArray(parts) || attachmentProblems(parts).length > 0) return found;
  for (const [index, part] of parts.entries()) {
    const source: unknown = isRecord(part) ? part['source'] : undefined;
    const fileId = isRecord(source) ? source['fileId'] : undefined;
    if (typeof fileId === 'string' && !found.has(fileId)) found.set(fileId, index);
  }
  return found;
}
