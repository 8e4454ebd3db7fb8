/** Values, failures and times of raw histories, beside the functions of the SDK that it does not export. */
import {
  ApplicationFailure,
  CancelledFailure,
  DefaultFailureConverter,
  defaultPayloadConverter,
  type LoadedDataConverter,
  type Payload,
  TimeoutFailure,
  TimeoutType,
} from '@temporalio/common';
import {
  decodeArrayFromPayloads,
  decodeOptionalFailureToOptionalError,
  encodeErrorToFailure,
  encodeToPayloads,
} from '@temporalio/common/lib/internal-non-workflow/codec-helpers.js';
import { msToTs } from '@temporalio/common/lib/time.js';
import { describe, expect, test } from 'vitest';
import { isoOf, msOf } from '../../../../src/client/history/times.js';
import { decodedError, decodedValues } from '../../../../src/client/history/values.js';

/** Adds a byte in front; reading removes it, and refuses another one. */
function marking(mark: number) {
  const each = (payloads: Payload[], change: (data: Uint8Array) => Uint8Array): Payload[] =>
    payloads.map(({ metadata, data }) => ({
      metadata: metadata ?? {},
      data: change(data ?? new Uint8Array()),
    }));
  return {
    encode: async (payloads: Payload[]) =>
      each(payloads, (data) => Uint8Array.from([mark, ...data])),
    decode: async (payloads: Payload[]) =>
      each(payloads, (data) => {
        if (data[0] !== mark) throw new Error(`not encoded with ${mark}`);
        return data.subarray(1);
      }),
  };
}

const converter: LoadedDataConverter = {
  payloadConverter: defaultPayloadConverter,
  failureConverter: new DefaultFailureConverter({ encodeCommonAttributes: true }),
  payloadCodecs: [marking(1), marking(2)],
};

describe('decoding a raw history', () => {
  test('returns the values that the SDK would, through all codecs, and none for an absent list', async () => {
    const values = [{ text: 'Grüße' }, 7, null];
    const payloads = await encodeToPayloads(converter, ...values);
    expect(await decodedValues(converter, payloads)).toEqual(values);
    expect(await decodeArrayFromPayloads(converter, payloads)).toEqual(values);
    for (const absent of [undefined, null])
      expect(await decodedValues(converter, absent)).toEqual([]);
  });

  test.each([
    new ApplicationFailure('outer', 'kind', true, [{ a: 1 }, 'two'], new Error('inner')),
    new CancelledFailure(
      'stopped',
      [['why']],
      new TimeoutFailure('late', { at: 3 }, TimeoutType.HEARTBEAT),
    ),
    new TimeoutFailure('late', undefined, TimeoutType.START_TO_CLOSE),
  ])('returns the error that the SDK would, with its causes: $name', async (error) => {
    const failure = await encodeErrorToFailure(converter, error);
    const decoded = await decodedError(converter, failure);
    expect(decoded).toStrictEqual(await decodeOptionalFailureToOptionalError(converter, failure));
    expect(decoded?.message).toBe(error.message);
  });

  test('decodes the last heartbeat of a run that was reset', async () => {
    const details = await encodeToPayloads(converter, { at: 5 });
    const failure = {
      message: 'reset',
      resetWorkflowFailureInfo: { lastHeartbeatDetails: { payloads: details ?? [] } },
    };
    expect(await decodedError(converter, failure)).toMatchObject({ details: [{ at: 5 }] });
  });

  test('returns no error for no failure, and rejects with the error of a codec', async () => {
    expect(await decodedError(converter, null)).toBeUndefined();
    const failure = {
      applicationFailureInfo: { details: { payloads: [{ data: Uint8Array.of(9) }] } },
    };
    await expect(decodedError(converter, failure)).rejects.toThrow('not encoded with 2');
  });
});

describe('times of a raw history', () => {
  test('are milliseconds since 1970, rounded down, and ISO 8601', () => {
    const at = { ...msToTs(1_700_000_000_123), nanos: 123_999_999 };
    expect(msOf(at)).toBe(1_700_000_000_123);
    expect(isoOf(at, 'eventTime')).toBe('2023-11-14T22:13:20.123Z');
  });

  test('are undefined for an absent field, or an error that names it', () => {
    expect(msOf(null)).toBeUndefined();
    expect(() => isoOf(undefined, 'eventTime')).toThrow(
      new TypeError('The server sent no eventTime'),
    );
  });
});
