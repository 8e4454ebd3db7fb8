/**
 * Imports recorded histories into a Temporal server, as `tdbg workflow import` does: each becomes a run that continues
 * from the end of its history. Temporal's packages do not have the messages of this service of the server, so they are
 * encoded here.
 */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Client } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { temporal } from '@temporalio/proto';
import protobuf from 'protobufjs/minimal.js';
import { CompressionCodec } from '../../../src/client/payloads/payload-codec.js';
import { isRecord } from '../../../src/protocol/values/json.js';
import { type DevServer, startDevServer } from '../servers/dev-server.js';

const METHOD = '/temporal.server.api.adminservice.v1.AdminService/ImportWorkflowExecution';
/** `temporal.api.enums.v1.EncodingType.ENCODING_TYPE_PROTO3` */
const PROTO3 = 1;
/** `is_global_namespace_enabled` in the server's `ClusterMetadata`: field 9, a varint. */
const GLOBAL_NAMESPACES = (9 << 3) | 0;

type Event = temporal.api.history.v1.IHistoryEvent;

export interface RecordedRun {
  readonly workflowId: string;
  readonly runId: string;
  readonly taskQueue: string;
  /** The argument of the workflow. */
  readonly input: Readonly<Record<string, unknown>>;
}

/** The run of a history, by its first event. */
export async function runOf(json: unknown): Promise<RecordedRun> {
  const events = historyFromJSON(json).events ?? [];
  const started = events[0]?.workflowExecutionStartedEventAttributes;
  const [payload] = await new CompressionCodec().decode(started?.input?.payloads ?? []);
  const input = payload === undefined ? undefined : defaultPayloadConverter.fromPayload(payload);
  return {
    workflowId: started?.workflowId ?? '',
    runId: started?.originalExecutionRunId ?? '',
    taskQueue: started?.taskQueue?.name ?? '',
    input: isRecord(input) ? input : {},
  };
}

/** Imports one run. Import the runs of a conversation in their order. @throws when the server refuses it. */
export async function importRun(client: Client, json: unknown): Promise<void> {
  const events = historyFromJSON(json).events ?? [];
  const lastEventId = Number(events.at(-1)?.eventId);
  const request = { ...(await runOf(json)), lastEventId, events };
  const token = await call(client, encode(request, []));
  await call(client, encode({ ...request, events: [] }, token));
}

/**
 * A dev server with data of its own that takes imports. Imports need a cluster with global namespaces; a server is one
 * where its database says so. `folder`: for the database.
 */
export async function importingServer(folder: string): Promise<DevServer> {
  const dbFile = join(folder, 'temporal.db');
  const empty = await startDevServer({ dbFile });
  await empty.stop();
  const database = new DatabaseSync(dbFile);
  const enabled = Buffer.from([GLOBAL_NAMESPACES, 1]);
  const { changes } = database
    .prepare(
      "UPDATE cluster_metadata_info SET data = CAST(data || ? AS BLOB) WHERE data_encoding = 'Proto3'",
    )
    .run(enabled);
  database.close();
  if (changes !== 1) throw new Error(`the server's database has ${changes} clusters instead of 1`);
  return await startDevServer({ dbFile });
}

interface Request {
  readonly workflowId: string;
  readonly runId: string;
  readonly lastEventId: number;
  /** Empty: the events of the request before become the run. */
  readonly events: readonly Event[];
}

/** `ImportWorkflowExecutionRequest`. Each event is a transaction of its own: histories do not have their transactions. */
function encode(
  { workflowId, runId, lastEventId, events }: Request,
  token: Uint8Array | readonly [],
): Uint8Array {
  const writer = protobuf.Writer.create();
  writer.uint32(10).string('default');
  writer.uint32(18).fork().uint32(10).string(workflowId).uint32(18).string(runId).ldelim();
  for (const event of events) {
    const data = temporal.api.history.v1.History.encode({ events: [event] }).finish();
    writer.uint32(26).fork().uint32(8).int32(PROTO3).uint32(18).bytes(data).ldelim();
  }
  // The version history has one version, 0, as in every namespace of one cluster.
  writer.uint32(34).fork().uint32(18).fork().uint32(8).int64(lastEventId).ldelim().ldelim();
  if (token.length > 0) writer.uint32(42).bytes(Uint8Array.from(token));
  return writer.finish();
}

/** The token of `ImportWorkflowExecutionResponse`. */
async function call(client: Client, request: Uint8Array): Promise<Uint8Array> {
  const { client: grpc } = client.connection as unknown as {
    client: {
      makeUnaryRequest(
        method: string,
        write: (message: Uint8Array) => Buffer,
        read: (bytes: Buffer) => Buffer,
        message: Uint8Array,
        done: (error: Error | null, reply?: Buffer) => void,
      ): void;
    };
  };
  const reply = await new Promise<Buffer>((resolve, reject) => {
    grpc.makeUnaryRequest(
      METHOD,
      (message) => Buffer.from(message),
      (bytes) => bytes,
      request,
      (error, message) => {
        if (error === null) resolve(message ?? Buffer.alloc(0));
        else reject(error);
      },
    );
  });
  if (reply.length === 0) return reply;
  const reader = protobuf.Reader.create(reply);
  reader.uint32();
  return reader.bytes();
}
