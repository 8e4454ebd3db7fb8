/** Middleware of every request: a request id, one log line, security headers, a JSON body of bounded size. */
import { randomUUID } from 'node:crypto';
import express, { type Request, type RequestHandler, type Response } from 'express';
import { checkTexts } from '../../client/api/checks.js';
import { ConversationError, invalidField } from '../../client/api/errors.js';
import { forHttpRequest } from '../../client/payloads/http-request-id.js';
import { MAX_HTTP_BODY_BYTES } from '../../protocol/limits/service-limits.js';
import { requestIdProblem } from '../../protocol/values/ids.js';
import { register } from '../../watchdog/operations.js';
import { loggedCaller } from '../identity/callers.js';
import type { AppDeps } from './deps.js';
import { sendProblem } from './problem.js';

const REQUEST_ID = /^[A-Za-z0-9_.:-]{1,128}$/;

/**
 * Takes the caller's `X-Request-Id` if it is plain, creates one otherwise, and sets it on the response. The histories of
 * workflows name it at what the request causes there.
 */
export function requestId(): RequestHandler {
  return (request, response, next) => {
    const given = request.get('x-request-id');
    const id = given !== undefined && REQUEST_ID.test(given) ? given : randomUUID();
    response.setHeader('X-Request-Id', id);
    forHttpRequest(id, next);
  };
}

/** Checks the `Idempotency-Key` of every request, also where the effect is idempotent by itself. */
export function checkKey(): RequestHandler {
  return (request, _response, next) => {
    const key = request.get('idempotency-key');
    const problem = key === undefined ? undefined : requestIdProblem('Idempotency-Key', key);
    if (problem !== undefined) throw invalidField('Idempotency-Key', problem);
    next();
  };
}

/**
 * Notes each request for the watchdog until its headers are sent: an event stream is open for hours and does little.
 * Only the path is noted, because the query may hold data that must not be logged.
 */
export function requestNote(): RequestHandler {
  return (request, response, next) => {
    const path = request.originalUrl.split('?', 1)[0] ?? '';
    const leave = register.enter(`request ${request.method} ${path}`);
    const writeHead = response.writeHead.bind(response) as (...given: unknown[]) => Response;
    response.writeHead = (...given: unknown[]) => {
      leave();
      return writeHead(...given);
    };
    response.once('close', leave);
    next();
  };
}

interface Caused {
  readonly conversationId: string;
  /** Absent while no worker has taken the message. */
  readonly turnId?: string;
}

const causedBy = new WeakMap<Response, Caused>();

/** Adds to the request's log line the turn that it began: the lines of workers about that turn name it as well. */
export function noteCaused(response: Response, caused: Caused): void {
  causedBy.set(response, caused);
}

/**
 * Writes one line for each request when it is over. Only the path is logged, because the query may hold data that must
 * not be.
 */
export function requestLog(log: NonNullable<AppDeps['log']>): RequestHandler {
  return (request, response, next) => {
    const startedAt = performance.now();
    response.once('close', () => {
      const line = {
        requestId: response.getHeader('x-request-id'),
        method: request.method,
        path: request.originalUrl.split('?', 1)[0],
        status: response.statusCode,
        durationMs: Math.round(performance.now() - startedAt),
        ...loggedCaller(request),
        ...causedBy.get(response),
        ...(response.writableFinished ? {} : { aborted: true }),
      };
      log.info(line, 'request');
    });
    next();
  };
}

/** Parses JSON bodies. A body of another type is refused; a request without a body is accepted. */
export function jsonBody(limit: number = MAX_HTTP_BODY_BYTES): RequestHandler[] {
  const isJson = ['application/json', 'application/*+json'];
  return [
    (request, response, next) => {
      if (!hasBody(request) || request.is(isJson) !== false) {
        next();
        return;
      }
      refuseType(request, response);
    },
    express.json({ limit, type: isJson, strict: false }),
    (request, _response, next) => {
      checkTexts(request.body);
      next();
    },
  ];
}

function hasBody(request: Request): boolean {
  const length = request.headers['content-length'];
  return (
    request.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0')
  );
}

function refuseType(request: Request, response: Response): void {
  const type = request.get('content-type');
  const got = type === undefined ? 'no content type' : `"${type}"`;
  sendProblem(
    response,
    new ConversationError(
      'unsupported_media_type',
      `Send JSON with content-type: application/json, got ${got}`,
    ),
  );
}
