/** Kept histories with their payloads as values, and the names of what their events concern. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CompressionCodec } from '../../../src/client/payloads/payload-codec.js';

export interface DecodedEvent {
  /** Without prefix, such as `TIMER_FIRED`. */
  readonly type: string;
  /**
   * The name of the update, signal or activity, or the summary or length of the timer, also at its later events;
   * otherwise empty.
   */
  readonly name: string;
  /** Attributes and user metadata, with decoded payloads. */
  readonly content: Fields;
}

type Fields = Readonly<Record<string, unknown>>;

/** The attributes that refer to the event with the name. */
const REFERENCES = ['scheduledEventId', 'startedEventId', 'acceptedEventId'] as const;
const codec = new CompressionCodec();

export function historyFilesIn(folder: string): readonly string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .sort();
}

/** The events of a history file in JSON. */
export async function decodedEvents(
  folder: string,
  file: string,
): Promise<readonly DecodedEvent[]> {
  const { events } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as {
    readonly events: readonly Fields[];
  };
  const names = new Map<unknown, string>();
  const decoded: DecodedEvent[] = [];
  for (const { eventId, eventType, eventTime: _time, taskId: _task, ...rest } of events) {
    const content = (await withValues(rest)) as Fields;
    const name = nameOf(content, names);
    names.set(eventId, name);
    decoded.push({ type: String(eventType).replace('EVENT_TYPE_', ''), name, content });
  }
  return decoded;
}

/** The attributes of an event, whose key names the type. */
export function attributesOf(content: Fields): Fields {
  const key = Object.keys(content).find((name) => name.endsWith('EventAttributes'));
  return (key === undefined ? {} : content[key]) as Fields;
}

function nameOf(content: Fields, names: ReadonlyMap<unknown, string>): string {
  const attributes = attributesOf(content);
  const own =
    attributes['signalName'] ??
    at(attributes, 'activityType', 'name') ??
    at(attributes, 'acceptedRequest', 'input', 'name') ??
    at(content, 'userMetadata', 'summary') ??
    attributes['startToFireTimeout'];
  if (typeof own === 'string') return own;
  const found = REFERENCES.map((key) => names.get(attributes[key]));
  return found.find((name) => name !== undefined && name !== '') ?? '';
}

function at(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((inner, key) => (inner as Fields | undefined)?.[key], value);
}

/** The same with the value in place of each payload; one that is not JSON stays as it is. */
async function withValues(value: unknown): Promise<unknown> {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return await Promise.all(value.map(withValues));
  if ('data' in value && 'metadata' in value) return await valueOf(value as RawPayload);
  const entries = Object.entries(value).map(
    async ([key, inner]) => [key, await withValues(inner)] as const,
  );
  return Object.fromEntries(await Promise.all(entries));
}

interface RawPayload {
  readonly data: string;
  readonly metadata: Readonly<Record<string, string>>;
}

async function valueOf(raw: RawPayload): Promise<unknown> {
  const metadata = Object.fromEntries(
    Object.entries(raw.metadata).map(([key, text]) => [key, Buffer.from(text, 'base64')]),
  );
  const [payload] = await codec.decode([{ metadata, data: Buffer.from(raw.data, 'base64') }]);
  const encoding = Buffer.from(payload?.metadata?.['encoding'] ?? []).toString();
  if (encoding !== 'json/plain') return raw;
  return JSON.parse(Buffer.from(payload?.data ?? []).toString()) as unknown;
}
