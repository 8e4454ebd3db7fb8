/** Payloads as Temporal's remote codec protocol carries them: protobuf's JSON, with bytes in base64. */
import type { Payload, PayloadCodec } from '@temporalio/common';

import { MAX_INFLATED_SUM_BYTES } from '../../protocol/limits/service-limits.js';
import { ConversationError } from '../api/errors.js';

export type { PayloadCodec } from '@temporalio/common';

export interface JsonPayload {
  readonly metadata?: Readonly<Record<string, string>> | null | undefined;
  readonly data?: string | null | undefined;
}

/**
 * Passes payloads through all codecs: `encode` first to last, `decode` last to first. Rejects with the error of a
 * codec.
 * @throws {ConversationError} body_too_large when a codec adds more than 32 MiB to the payloads together
 */
export async function throughCodecs(
  codecs: readonly PayloadCodec[],
  direction: 'encode' | 'decode',
  payloads: readonly JsonPayload[],
): Promise<readonly JsonPayload[]> {
  let passed = payloads.map(fromJson);
  const ordered = direction === 'encode' ? codecs : codecs.toReversed();
  for (const codec of ordered) {
    const given = bytesIn(passed);
    passed = await codec[direction](passed);
    checkGrowth(bytesIn(passed) - given);
  }
  return passed.map(toJson);
}

/** Codecs of the application have bounds of their own, or none. */
function checkGrowth(bytes: number): void {
  if (bytes > MAX_INFLATED_SUM_BYTES)
    throw new ConversationError(
      'body_too_large',
      `A codec may add at most ${MAX_INFLATED_SUM_BYTES} bytes to the payloads of a request, got ${bytes}`,
    );
}

function bytesIn(payloads: readonly Payload[]): number {
  return payloads.reduce((sum, { data }) => sum + (data?.byteLength ?? 0), 0);
}

function fromJson({ metadata, data }: JsonPayload): Payload {
  const entries = Object.entries(metadata ?? {});
  return {
    metadata: Object.fromEntries(entries.map(([name, value]) => [name, bytesOf(value)])),
    ...(typeof data === 'string' ? { data: bytesOf(data) } : {}),
  };
}

function toJson({ metadata, data }: Payload): JsonPayload {
  const entries = Object.entries(metadata ?? {});
  return {
    metadata: Object.fromEntries(entries.map(([name, value]) => [name, textOf(value)])),
    ...(data ? { data: textOf(data) } : {}),
  };
}

function bytesOf(text: string): Uint8Array {
  return Buffer.from(text, 'base64');
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}
