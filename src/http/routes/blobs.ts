/**
 * Serves values that are too large for their events, as they were stored, and takes uploads of files for a later
 * message.
 */
import express, { type Request, type RequestHandler, type Response, type Router } from 'express';
import { ConversationError } from '../../client/api/errors.js';
import type { Conversation } from '../../client/conversation.js';
import type { BlobRange } from '../../client/ports/blobs.js';
import { AUDIT_HEAD, auditOf } from '../../projection/model-calls/audited.js';
import { MAX_BLOB_BYTES } from '../../protocol/limits/service-limits.js';
import { identityOf } from '../identity/callers.js';
import type { AppDeps } from '../request/deps.js';
import { pathParameter } from '../request/parse.js';
import { addRoute } from '../request/router.js';
import { isKnown } from '../request/tags.js';
import { addressOf, conversationOf } from '../request/tenants.js';

const NOTHING: BlobRange = { offset: 0, length: 0 };

/**
 * Serves a blob whole, or one range of bytes (`Range: bytes=0-1023`). Blobs are never opened as a page, because tools
 * may have put anything into them.
 */
export function addBlobRoutes(router: Router, deps: AppDeps): void {
  addRoute(router, '/v1/conversations/:id/blobs/:blobId', {
    get: async (request, response) => {
      const conversation = conversationOf(deps, request);
      const blobId = pathParameter(request, 'blobId');
      await requireNoAudit(conversation, blobId, request);
      if (asksForPart(request)) await sendPart(conversation, blobId, { request, response });
      else {
        // An id names its content, which never changes; the rights of the caller may. A caller that has it costs no
        // read of the content.
        const asks = request.get('if-none-match') !== undefined;
        const { ref, content } = await conversation.blob(blobId, asks ? NOTHING : undefined);
        if (isKnown(request, response, `"${ref.id}"`)) return;
        const whole = asks ? (await conversation.blob(blobId)).content : content;
        send(response.status(200), ref.type, whole);
      }
    },
  });
}

/**
 * Tokens for one conversation are for its user, who does not read the instructions of the agent: audits of model calls
 * have them, and the log names these.
 * @throws {ConversationError} unknown_blob
 */
async function requireNoAudit(
  conversation: Conversation,
  blobId: string,
  request: Request,
): Promise<void> {
  if (identityOf(request).conversation === undefined) return;
  const { content } = await conversation.blob(blobId, AUDIT_HEAD);
  if (auditOf(content) === undefined) return;
  throw new ConversationError('unknown_blob', 'The conversation has no such value');
}

/** Takes the body as the file, with any content type, so the route must stand before the JSON parser. */
export function addUploadRoute(router: Router, deps: AppDeps): void {
  addRoute(router, '/v1/conversations/:id/blobs', {
    post: async (request, response) => {
      const conversation = conversationOf(deps, request);
      const content = await bytesOf(request, response);
      const blob = await conversation.upload(content);
      response
        .status(201)
        .location(addressOf(request, conversation.id, `/blobs/${blob.id}`))
        .json({ blob });
    },
  });
}

const readBytes: RequestHandler = express.raw({ type: () => true, limit: MAX_BLOB_BYTES });

/**
 * Reads the body; a request without one has no bytes. @throws the parser's error for a body that is too large, cut
 * short or compressed wrongly
 */
async function bytesOf(request: Request, response: Response): Promise<Uint8Array> {
  await new Promise<void>((resolve, reject) => {
    readBytes(request, response, (error?: unknown) => {
      if (error instanceof Error) reject(error);
      else resolve();
    });
  });
  const body: unknown = request.body;
  return Buffer.isBuffer(body) ? body : new Uint8Array();
}

/** False for a header that is not a range of bytes, which is ignored. @see RFC 9110, section 14.2 */
function asksForPart(request: Request): boolean {
  return /^\s*bytes\s*=\s*[\d,\s-]+$/i.test(request.get('range') ?? '');
}

async function sendPart(
  conversation: Conversation,
  blobId: string,
  { request, response }: { readonly request: Request; readonly response: Response },
): Promise<void> {
  const { ref } = await conversation.blob(blobId, NOTHING);
  const { bytes, type } = ref;
  const range = rangeOf(request, bytes);
  if (range === undefined) {
    response.status(416).setHeader('Content-Range', `bytes */${bytes}`).end();
    return;
  }
  const { content } = await conversation.blob(blobId, range);
  const last = range.offset + content.byteLength - 1;
  response.setHeader('Content-Range', `bytes ${range.offset}-${last}/${bytes}`);
  send(response.status(206), type, content);
}

/** The first of several ranges: a server may return less than was asked for. Undefined if no range can be met. */
function rangeOf(request: Request, bytes: number): BlobRange | undefined {
  const ranges = request.range(bytes);
  const first = Array.isArray(ranges) ? ranges[0] : undefined;
  return first === undefined
    ? undefined
    : { offset: first.start, length: first.end - first.start + 1 };
}

function send(response: Response, type: string, content: Uint8Array): void {
  response.setHeader('Accept-Ranges', 'bytes');
  response.setHeader('Content-Disposition', 'attachment');
  const isText = type !== 'application/octet-stream';
  response.type(isText ? `${type}; charset=utf-8` : type).send(Buffer.from(content));
}
