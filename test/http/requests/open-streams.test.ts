/** The places of event streams: one for each open response, whichever route it is of. */
import { EventEmitter } from 'node:events';
import type { Request, Response } from 'express';
import { expect, it } from 'vitest';
import { rememberIdentity } from '../../../src/http/identity/callers.js';
import { OpenStreams } from '../../../src/http/request/streams.js';
import { TESTING } from '../../support/networks/test-identity.js';
import { promise } from '../../support/promise.js';

function requestOf(): Request {
  const request = {} as unknown as Request;
  rememberIdentity(request, TESTING);
  return request;
}

function responseOf(closed: boolean) {
  const emitter = Object.assign(new EventEmitter(), { closed });
  return {
    response: emitter as unknown as Response,
    leave: () => {
      emitter.closed = true;
      emitter.emit('close');
    },
  };
}

function streamsOf(maxPerCaller: number): OpenStreams {
  return new OpenStreams({
    isSameCaller: () => Promise.resolve(true),
    callerOf: () => 'ann',
    maxPerCaller,
  });
}

it('a caller has as many as it may, and another one when one has ended', promise('G357'), () => {
  const streams = streamsOf(1);
  const first = responseOf(false);
  const signal = streams.open(requestOf(), first.response);
  expect(() => streams.open(requestOf(), responseOf(false).response)).toThrow('1 streams open');
  expect([signal.aborted, streams.count]).toEqual([false, 1]);
  first.leave();
  expect([signal.aborted, streams.count]).toEqual([true, 0]);
  expect(streams.open(requestOf(), responseOf(false).response).aborted).toBe(false);
});

it('a client that has left before its stream opens takes no place', promise('G357'), () => {
  const streams = streamsOf(1);
  const signal = streams.open(requestOf(), responseOf(true).response);
  expect([signal.aborted, streams.count]).toEqual([true, 0]);
  expect(streams.open(requestOf(), responseOf(false).response).aborted).toBe(false);
});
