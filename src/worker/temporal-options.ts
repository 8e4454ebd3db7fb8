/** Derives the options of Temporal's workers from those of a Colloquy worker. */
import type { PayloadCodec } from '@temporalio/common';
import type { NativeConnection, WorkerOptions } from '@temporalio/worker';
import { CompressionCodec } from '../client/payloads/payload-codec.js';
import { HEARTBEAT_THROTTLE_MS } from '../protocol/limits/service-limits.js';
import type { ColloquyWorkerOptions } from './options.js';
import { PAYLOAD_CONVERTER_PATH } from './temporal/bundle.js';

interface Connected {
  readonly connection: NativeConnection;
  readonly namespace: string;
  readonly codecs: readonly PayloadCodec[];
}

/** Compression comes first: encrypted data cannot be compressed any more. */
export function codecsOf(
  options: Pick<ColloquyWorkerOptions<never>, 'compression' | 'tuning'>,
): readonly PayloadCodec[] {
  const given = options.tuning?.dataConverter?.payloadCodecs ?? [];
  return [new CompressionCodec({ writes: options.compression }), ...given];
}

/** Options of the main worker and of the worker of its own queue. */
export function commonOptions(
  {
    tuning,
    shutdownGraceMs = 60_000,
  }: Pick<ColloquyWorkerOptions<never>, 'tuning' | 'shutdownGraceMs'>,
  { connection, namespace, codecs }: Connected,
  identity: string,
) {
  return {
    connection,
    namespace,
    identity,
    maxHeartbeatThrottleInterval: HEARTBEAT_THROTTLE_MS,
    shutdownGraceTime: shutdownGraceMs,
    // The tuning may bring a codec; without the engine's payload converter one foreign signal would fail a conversation
    // forever.
    dataConverter: {
      payloadConverterPath: PAYLOAD_CONVERTER_PATH,
      ...tuning?.dataConverter,
      payloadCodecs: [...codecs],
    },
  } satisfies Partial<WorkerOptions>;
}

/** No options when this build is not a version of a deployment. */
export function deploymentOptions(
  options: Pick<ColloquyWorkerOptions<never>, 'deployment'>,
): Pick<WorkerOptions, 'workerDeploymentOptions'> {
  const { deployment } = options;
  if (deployment === undefined) return {};
  return {
    workerDeploymentOptions: {
      version: { deploymentName: deployment.name, buildId: deployment.buildId },
      useWorkerVersioning: true,
      // Conversations live for months, so they must move to new builds; kept histories are replayed before each
      // release.
      defaultVersioningBehavior: 'AUTO_UPGRADE',
    },
  };
}
