/** Finds the requests of model calls in the audit that a worker has stored beside the log. */
import { AUDIT_HEAD_BYTES, type AuditedRequest, auditedIn } from '../../protocol/model/audits.js';
import type { ShownRequest } from '../../protocol/model/model-calls.js';
import type { ConversationKey } from '../../protocol/values/ids.js';
import { isRecord } from '../../protocol/values/json.js';
import type { BlobRange, BlobStore, StoredBlob } from '../../store/ports/blobs.js';

/** Values of one conversation that are looked at, and beginnings of values that are read; more cost too much. */
const MAX_LISTED = 2_000;
const MAX_HEADS = 200;
const A_PAGE = 500;

/** The part of a stored value that says whether it is an audit. */
export const AUDIT_HEAD: BlobRange = { offset: 0, length: AUDIT_HEAD_BYTES };

/** The request that a stored value is the audit of, by its beginning; undefined for any other value. */
export function auditOf(beginning: Uint8Array): AuditedRequest | undefined {
  return auditedIn(Buffer.from(beginning.subarray(0, AUDIT_HEAD_BYTES)).toString());
}

export type AuditBlobs = Pick<BlobStore, 'get' | 'list'>;

export interface WantedCall {
  readonly turnId: string;
  readonly step: number;
  readonly attempt: number;
  /** ISO 8601. The record of the answer; the audit is stored shortly before. */
  readonly at: string;
}

/**
 * The request in the stored value that the log names; undefined when the value is not stored, as in forks, or is no
 * audit of this call.
 * @throws {StoreUnavailable}
 */
export async function auditedAt(
  blobs: AuditBlobs,
  key: ConversationKey,
  { id, ...wanted }: WantedCall & { readonly id: string },
): Promise<ShownRequest | undefined> {
  const found = await headOf(blobs, key, id);
  return found === undefined || !isOf(found, wanted) ? undefined : await requestIn(blobs, key, id);
}

/**
 * The same where the log names no stored value: the call failed, or a worker of an older version made it. The request
 * whose answer is in the log, of the last one where several were made; undefined when there is none. A blob's name is a
 * hash of its content, so the blobs that were stored about the time of the call are looked at first.
 * @throws {StoreUnavailable}
 */
export async function auditedRequest(
  blobs: AuditBlobs,
  key: ConversationKey,
  wanted: WantedCall,
): Promise<ShownRequest | undefined> {
  const at = Date.parse(wanted.at);
  const distance = ({ storedAt }: StoredBlob): number => Math.abs(Date.parse(storedAt) - at);
  const listed = await blobsOf(blobs, key);
  const near = listed.toSorted((one, other) => distance(one) - distance(other));
  let second: string | undefined;
  for (const { ref } of near.slice(0, MAX_HEADS)) {
    const found = await headOf(blobs, key, ref.id);
    if (found === undefined || !isOf(found, wanted)) continue;
    if (found.outcome === 'answered') return await requestIn(blobs, key, ref.id);
    second ??= ref.id;
  }
  return second === undefined ? undefined : await requestIn(blobs, key, second);
}

function isOf(found: AuditedRequest, { turnId, step, attempt }: WantedCall): boolean {
  const isAnswer = found.purpose === 'answer';
  return isAnswer && found.turnId === turnId && found.step === step && found.attempt === attempt;
}

/** The JSON values of one conversation. */
async function blobsOf(blobs: AuditBlobs, key: ConversationKey): Promise<readonly StoredBlob[]> {
  const { tenant, conversationId } = key;
  const found: StoredBlob[] = [];
  let after: { tenant: string; conversationId: string; ref: { id: string } } = {
    ...{ tenant, conversationId, ref: { id: '' } },
  };
  while (found.length < MAX_LISTED) {
    const page = await blobs.list({ tenant, limit: A_PAGE, after });
    const own = page.filter((blob) => blob.conversationId === conversationId);
    found.push(...own);
    const last = own.at(-1);
    if (own.length < A_PAGE || last === undefined) break;
    after = last;
  }
  return found.filter(({ ref }) => ref.type === 'application/json');
}

async function headOf(
  blobs: AuditBlobs,
  key: ConversationKey,
  id: string,
): Promise<AuditedRequest | undefined> {
  const read = await blobs.get(key, id, AUDIT_HEAD);
  return read === undefined ? undefined : auditOf(read.content);
}

async function requestIn(
  blobs: AuditBlobs,
  key: ConversationKey,
  id: string,
): Promise<ShownRequest | undefined> {
  const read = await blobs.get(key, id);
  if (read === undefined) return undefined;
  const content: unknown = JSON.parse(Buffer.from(read.content).toString());
  if (!isRecord(content) || !isRecord(content['request'])) return undefined;
  const request = content['request'] as unknown as ShownRequest;
  return Array.isArray(request.messages) ? request : undefined;
}
