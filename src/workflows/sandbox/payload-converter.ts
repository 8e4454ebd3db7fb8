/**
 * The payload converter of the worker, inside and outside of the sandbox: the default one, except that a payload which
 * cannot be decoded becomes a sentinel. Otherwise a single signal of a foreign encoding, from any client that can reach
 * the server, would fail the conversation's workflow task forever.
 */
import type { Payload } from '@temporalio/common';
import { defaultPayloadConverter, type PayloadConverter } from '@temporalio/common';
import { UNDECODABLE } from '../../protocol/workflow/messaging.js';

export const payloadConverter: PayloadConverter = {
  toPayload: (value) => defaultPayloadConverter.toPayload(value),
  fromPayload: <T>(payload: Payload): T => {
    try {
      return defaultPayloadConverter.fromPayload<T>(payload);
    } catch {
      return UNDECODABLE as T;
    }
  },
};
