/**
 * The tables of the protocol: gates, the resolutions of each wait, the HTTP status of each failure, the texts for the
 * model.
 */
import { describe, expect, it } from 'vitest';
import { MAX_CARRIED_STATE_BYTES } from '../../../src/core/context/carry-over.js';
import { EXECUTORS, rowOf, waitsOutside } from '../../../src/protocol/calls/executors.js';
import {
  RESOLVES,
  VERDICT_HTTP_STATUS,
  VERDICT_PRECEDENCE,
} from '../../../src/protocol/calls/resolutions.js';
import { SUSPENSION_KINDS } from '../../../src/protocol/calls/suspensions.js';
import { FAILURES, isFailureCode } from '../../../src/protocol/failures/failures.js';
import { TEXTS } from '../../../src/protocol/failures/texts.js';
import * as limits from '../../../src/protocol/limits/limits.js';
import * as serviceLimits from '../../../src/protocol/limits/service-limits.js';
import { actorFrom } from '../../../src/protocol/values/actors.js';
import { QUERIES, SIGNALS, UPDATES } from '../../../src/protocol/workflow/messaging.js';
import { promise } from '../../support/promise.js';

describe('the legal matrix', () => {
  it('gates the calls that can be held, and none that is a decision already or runs inside the model', {
    ...promise('A12', 'A13', 'A22', 'A24'),
  }, () => {
    expect(
      EXECUTORS.map((executor) => [executor, rowOf(executor).mayBeGated, waitsOutside(executor)]),
    ).toEqual([
      ['server', true, false],
      ['human', false, true],
      ['client', true, true],
      ['external', true, true],
      ['provider', false, false],
      ['internal', true, false],
    ]);
  });

  it('has two ways to answer every kind of suspension: one that gives, one that refuses', {
    ...promise('A23', 'A31', 'A53'),
  }, () => {
    for (const kind of SUSPENSION_KINDS)
      expect(Object.values(RESOLVES).filter((kinds) => kinds.includes(kind))).toHaveLength(
        // The value of an outcome is one of the two.
        kind === 'outcome' ? 1 : 2,
      );
  });
});

describe('verdicts', () => {
  it('have an order and a status each', promise('S29'), () => {
    expect(Object.keys(VERDICT_HTTP_STATUS).sort()).toEqual([...VERDICT_PRECEDENCE].sort());
    expect(VERDICT_PRECEDENCE.map((verdict) => VERDICT_HTTP_STATUS[verdict])).toEqual([
      404, 200, 403, 409, 410, 422, 200, 200, 202,
    ]);
  });
});

describe('the failure table', () => {
  const rows = Object.entries(FAILURES);
  it('has a status that HTTP knows and a title for every code', () => {
    for (const [code, row] of rows) {
      expect(code).toMatch(/^[a-z][a-z_]*$/);
      expect(row.title.length).toBeGreaterThan(5);
      expect(row.httpStatus === 200 || (row.httpStatus >= 400 && row.httpStatus <= 504)).toBe(true);
    }
  });

  it('calls no failure retryable that the caller has to correct first', () => {
    const final = [400, 403, 404, 405, 410, 413, 415, 421, 422];
    for (const [code, row] of rows)
      if (final.includes(row.httpStatus)) expect([code, row.retryable]).toEqual([code, false]);
    for (const [code, row] of rows)
      if (row.httpStatus === 503 || row.httpStatus === 429)
        expect([code, row.retryable]).toEqual([code, true]);
  });

  it('knows its own codes, and none that objects inherit', () => {
    for (const [code] of rows) expect(isFailureCode(code)).toBe(true);
    for (const code of ['toString', '__proto__', 'constructor', '', 7, null])
      expect(isFailureCode(code)).toBe(false);
  });
});

describe('names in histories', () => {
  it('never change', () => {
    expect({ UPDATES, SIGNALS, QUERIES }).toEqual({
      UPDATES: {
        sendMessage: 'sendMessage',
        extendToolCall: 'extendToolCall',
        resolveBatch: 'resolveBatch',
        claimToolCall: 'claimToolCall',
        changeSuspension: 'changeSuspension',
        leaseLost: 'leaseLost',
        inboxEvent: 'inboxEvent',
        childEnded: 'childEnded',
        revokeRule: 'revokeRule',
        resolveToolCall: 'resolveToolCall',
        cancelTurn: 'cancelTurn',
        closeConversation: 'closeConversation',
      },
      SIGNALS: {
        sendMessage: 'sendMessage',
        inboxEvent: 'inboxEvent',
        resolveToolCall: 'resolveToolCall',
        cancelTurn: 'cancelTurn',
        closeConversation: 'closeConversation',
        childEnded: 'childEnded',
        rollOver: 'rollOver',
        recover: 'recover',
      },
      QUERIES: {
        snapshot: 'snapshot',
        pending: 'pending',
        toolCall: 'toolCall',
        events: 'events',
        transcriptSlice: 'transcriptSlice',
        pluginStates: 'pluginStates',
      },
    });
  });
});

describe('the texts that models read', () => {
  it('are those of the source systems, to the letter', promise('A45', 'H38'), () => {
    expect([
      TEXTS.expired,
      TEXTS.deniedDefault,
      TEXTS.cancelled,
      TEXTS.unknownTool('x', ['a', 'b']),
      TEXTS.unknownTool('x', []),
      TEXTS.timeout(30_000),
      TEXTS.toolCrashed('exit 1'),
      TEXTS.maxSteps(25),
    ]).toEqual([
      'user did not respond',
      'Rejected by user',
      '[cancelled]',
      'Tool "x" not found. Available tools: a, b',
      'Tool "x" not found. Available tools: (none)',
      'Tool timed out after 30000ms',
      'tool crashed: exit 1',
      'Exceeded maximum number of rounds (25). Stopping.',
    ]);
    expect(TEXTS.expiredApproval.startsWith(TEXTS.expired)).toBe(true);
  });
});

describe('the limits', () => {
  it('fit into each other and into a payload of 2 MiB', () => {
    const payload = 2 * 1024 * 1024;
    expect(limits.MAX_CARRIED_TRANSCRIPT_BYTES + limits.MAX_CARRIED_EVENT_BYTES).toBeLessThan(
      payload,
    );
    expect(limits.MAX_TRANSCRIPT_BYTES).toBeLessThan(payload);
    const rules = limits.MAX_RULES * limits.MAX_RULE_MATCH_BYTES;
    const requests = limits.MAX_REMEMBERED_REQUESTS * 256;
    const calls = limits.MAX_WAITING_BYTES + limits.MAX_LATE_BYTES + limits.MAX_TOMBSTONE_BYTES;
    const verdicts = calls + requests + rules;
    expect(verdicts).toBeLessThanOrEqual(1_124 * 1024);
    // Messages that wait behind a turn have as much as they need, too.
    expect(verdicts + 2 * limits.MAX_MESSAGE_BYTES).toBeLessThan(MAX_CARRIED_STATE_BYTES);
    expect(limits.MAX_CARRIED_TRANSCRIPT_BYTES).toBeLessThanOrEqual(limits.MAX_TRANSCRIPT_BYTES);
    expect(limits.MAX_MESSAGE_BYTES).toBeLessThan(serviceLimits.MAX_HTTP_BODY_BYTES);
    expect(limits.MAX_ANSWER_BYTES).toBeLessThan(serviceLimits.MAX_HTTP_BODY_BYTES);
    expect(serviceLimits.DEFAULT_MAX_STEPS).toBeLessThanOrEqual(serviceLimits.MAX_MAX_STEPS);
    for (const wait of [
      serviceLimits.DEFAULT_APPROVAL_TIMEOUT_MS,
      serviceLimits.DEFAULT_ANSWER_TIMEOUT_MS,
      serviceLimits.DEFAULT_CLIENT_TIMEOUT_MS,
    ])
      expect(wait).toBeLessThan(limits.MAX_WAIT_MS);
  });
});

describe('an actor as it came over the wire', () => {
  it('is accepted as stamped by the API or a client, bounded, and without unknown fields', () => {
    expect(
      actorFrom({
        id: 'x'.repeat(300),
        name: 'n'.repeat(300),
        roles: ['a', 7, 'b'],
        channel: 'api',
        verified: true,
        token: 'secret',
      }),
    ).toEqual({
      id: 'x'.repeat(200),
      name: 'n'.repeat(200),
      roles: ['a', 'b'],
      channel: 'api',
      verified: true,
    });
  });

  it('is the unverified sender of a signal by default', () => {
    const anonymous = { id: 'anonymous', verified: false, channel: 'temporal' };
    for (const value of [undefined, null, 7, 'ann', {}, { id: '' }, { id: 7 }, []])
      expect(actorFrom(value)).toEqual(anonymous);
    expect(actorFrom({ id: 'ann', channel: 'client' })).toEqual({
      id: 'ann',
      verified: false,
      channel: 'client',
    });
  });
});
