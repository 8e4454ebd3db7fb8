/**
 * Decodes and encodes the values and failures of raw requests as the SDK's client does: through the codecs and the
 * converter. The SDK exports no function for it.
 */
import {
  arrayFromPayloads,
  type LoadedDataConverter,
  type Payload,
  type PayloadCodec,
  type ProtoFailure,
} from '@temporalio/common';

interface Payloads {
  readonly payloads?: Payload[] | null;
}

/** The values, in order; none for an absent list. Rejects with the error of a codec or of the converter. */
export async function decodedValues(
  { payloadCodecs, payloadConverter }: LoadedDataConverter,
  payloads: readonly Payload[] | null | undefined,
): Promise<readonly unknown[]> {
  if (payloads == null) return [];
  return arrayFromPayloads(payloadConverter, await throughCodecs(payloadCodecs, payloads));
}

/** The failure as the SDK would throw it; undefined for an absent one. Rejects as `decodedValues` does. */
export async function decodedError(
  { payloadCodecs, payloadConverter, failureConverter }: LoadedDataConverter,
  failure: ProtoFailure | null | undefined,
): Promise<Error | undefined> {
  if (failure == null) return undefined;
  const plain = await decodedFailure(payloadCodecs, failure);
  return failureConverter.failureToError(plain, payloadConverter);
}

/** The value as the SDK's client encodes an argument: by the converter, then through the codecs. */
export async function encodedValue(
  { payloadCodecs, payloadConverter }: LoadedDataConverter,
  value: unknown,
): Promise<Payload[]> {
  let passed = [payloadConverter.toPayload(value)];
  for (const codec of payloadCodecs) passed = await codec.encode(passed);
  return passed;
}

async function throughCodecs(
  codecs: readonly PayloadCodec[],
  payloads: readonly Payload[],
): Promise<Payload[]> {
  let passed = [...payloads];
  for (const codec of codecs.toReversed()) passed = await codec.decode(passed);
  return passed;
}

/** A codec encodes messages, stack traces and details of the whole chain of causes. */
async function decodedFailure(
  codecs: readonly PayloadCodec[],
  failure: ProtoFailure,
): Promise<ProtoFailure> {
  const plain: ProtoFailure = { ...failure };
  const { encodedAttributes, cause } = failure;
  const { applicationFailureInfo, canceledFailureInfo } = failure;
  const { timeoutFailureInfo, resetWorkflowFailureInfo } = failure;
  if (encodedAttributes != null) {
    const [attributes] = await throughCodecs(codecs, [encodedAttributes]);
    plain.encodedAttributes = attributes ?? null;
  }
  if (cause != null) plain.cause = await decodedFailure(codecs, cause);
  if (applicationFailureInfo != null)
    plain.applicationFailureInfo = await decodedInfo(codecs, applicationFailureInfo);
  if (canceledFailureInfo != null)
    plain.canceledFailureInfo = await decodedInfo(codecs, canceledFailureInfo);
  if (timeoutFailureInfo != null)
    plain.timeoutFailureInfo = await decodedInfo(codecs, timeoutFailureInfo);
  if (resetWorkflowFailureInfo != null)
    plain.resetWorkflowFailureInfo = await decodedInfo(codecs, resetWorkflowFailureInfo);
  return plain;
}

interface Info {
  readonly details?: Payloads | null;
  readonly lastHeartbeatDetails?: Payloads | null;
}

async function decodedInfo<Given extends Info>(
  codecs: readonly PayloadCodec[],
  info: Given,
): Promise<Given> {
  const details = info.details?.payloads;
  const heartbeat = info.lastHeartbeatDetails?.payloads;
  return {
    ...info,
    ...(details == null ? {} : { details: { payloads: await throughCodecs(codecs, details) } }),
    ...(heartbeat == null
      ? {}
      : { lastHeartbeatDetails: { payloads: await throughCodecs(codecs, heartbeat) } }),
  };
}
