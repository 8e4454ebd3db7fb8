/**
 * Moves the times of recorded histories, so that a conversation continues as if it had been recorded just now: otherwise
 * each of its deadlines would have passed a few days after the recording.
 */
import type { Payload } from '@temporalio/common';
import { CompressionCodec } from '../../../src/client/payloads/payload-codec.js';
import { isRecord } from '../../../src/protocol/values/json.js';

const SECOND_MS = 1_000;
/** An instant to the second, and its fraction: of milliseconds in payloads, of nanoseconds in Temporal's events. */
const INSTANT = /\b(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?Z/g;

const codec = new CompressionCodec();

/** A payload in the JSON of a history, with bytes as base64. */
interface PayloadJson {
  readonly metadata: Readonly<Record<string, string>>;
  readonly data: string;
}

/**
 * The histories of the runs of a conversation, moved by whole seconds: the last event of the last run has just happened.
 * Every instant is moved by the same amount, in payloads and in the texts in them as well, so no interval changes.
 */
export async function movedToNow(histories: readonly unknown[]): Promise<readonly unknown[]> {
  const seconds = Math.floor((Date.now() - lastTimeOf(histories.at(-1))) / SECOND_MS);
  return await Promise.all(histories.map((history) => moved(history, seconds)));
}

function lastTimeOf(history: unknown): number {
  const events = isRecord(history) && Array.isArray(history['events']) ? history['events'] : [];
  const last: unknown = events.at(-1);
  return Date.parse(isRecord(last) ? String(last['eventTime']) : '');
}

async function moved(value: unknown, seconds: number): Promise<unknown> {
  if (typeof value === 'string') return movedText(value, seconds);
  if (Array.isArray(value)) return await Promise.all(value.map((item) => moved(item, seconds)));
  if (isPayload(value)) return await movedPayload(value, seconds);
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).map(
    async ([key, item]) => [key, await moved(item, seconds)] as const,
  );
  return Object.fromEntries(await Promise.all(entries));
}

function movedText(text: string, seconds: number): string {
  return text.replaceAll(INSTANT, (_instant, whole: string, fraction: string | undefined) => {
    const time = new Date(Date.parse(`${whole}Z`) + seconds * SECOND_MS);
    return time.toISOString().replace('.000Z', `${fraction ?? ''}Z`);
  });
}

function isPayload(value: unknown): value is PayloadJson {
  return isRecord(value) && isRecord(value['metadata']) && typeof value['data'] === 'string';
}

/** A payload of JSON, compressed again: decoded ones would be too large for a few of the histories. */
async function movedPayload(payload: PayloadJson, seconds: number): Promise<PayloadJson> {
  const [plain] = await codec.decode([bytesOf(payload)]);
  const { encoding } = jsonOf(plain).metadata;
  if (
    !Buffer.from(encoding ?? '', 'base64')
      .toString()
      .startsWith('json/')
  )
    return payload;
  const text = movedText(Buffer.from(plain?.data ?? []).toString(), seconds);
  const [packed] = await codec.encode([{ ...plain, data: Buffer.from(text) }]);
  return jsonOf(packed);
}

function bytesOf({ metadata, data }: PayloadJson): Payload {
  const entries = Object.entries(metadata).map(
    ([key, text]) => [key, Buffer.from(text, 'base64')] as const,
  );
  return { metadata: Object.fromEntries(entries), data: Buffer.from(data, 'base64') };
}

function jsonOf({ metadata, data }: Payload = {}): PayloadJson {
  const entries = Object.entries(metadata ?? {}).map(
    ([key, bytes]) => [key, Buffer.from(bytes).toString('base64')] as const,
  );
  return {
    metadata: Object.fromEntries(entries),
    data: Buffer.from(data ?? []).toString('base64'),
  };
}
