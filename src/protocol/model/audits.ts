/**
 * The stored content of the audit of model calls: begins with the call that it belongs to, so that a reader finds it
 * among the blobs of a conversation. Pure.
 */
import { isRecord } from '../values/json.js';

/** Names one request to a model within its conversation. */
export interface AuditedRequest {
  readonly turnId: string;
  readonly step: number;
  readonly attempt: number;
  readonly purpose: string;
  /** `answered`, `aborted`, or the code of the failure. */
  readonly outcome: string;
}

/** Bytes at the beginning of a blob that have the whole name. */
export const AUDIT_HEAD_BYTES = 1_024;

/** No result of a tool begins with a line break, so none is taken for an audit. */
const BEGINNING = '\n{"call":';
const NEXT = ',"request":';

/** The text of the blob. */
export function auditText(
  { turnId, step, attempt, purpose, outcome }: AuditedRequest,
  content: { readonly request: unknown; readonly response?: unknown; readonly error?: unknown },
): string {
  const call = { turnId, step, attempt, purpose, outcome };
  return `\n${JSON.stringify({ call, ...content })}`;
}

/** Reads the name from the first `AUDIT_HEAD_BYTES` of a blob. Undefined for any other blob. */
export function auditedIn(head: string): AuditedRequest | undefined {
  const end = head.indexOf(NEXT);
  if (!head.startsWith(BEGINNING) || end < 0) return undefined;
  try {
    const call: unknown = JSON.parse(head.slice(BEGINNING.length, end));
    return isAudited(call) ? call : undefined;
  } catch {
    return undefined;
  }
}

function isAudited(value: unknown): value is AuditedRequest {
  if (!isRecord(value)) return false;
  const { turnId, step, attempt, purpose, outcome } = value;
  return (
    [turnId, purpose, outcome].every((text) => typeof text === 'string') &&
    [step, attempt].every((number) => Number.isSafeInteger(number))
  );
}
