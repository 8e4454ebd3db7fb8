/**
 * Documents of agents, tools and MCP servers over HTTP: list, put, delete, for callers with the right `admin`. Runs in
 * Node.
 */
import type { Request } from 'express';
import { DefinitionError } from '../../../define/checks/problems.js';
import { idProblem } from '../../../protocol/values/ids.js';
import { isRecord } from '../../../protocol/values/json.js';
import type { HsafaAgentDocuments } from '../documents/agent-documents.js';
import type { DocumentBox } from '../documents/box.js';
import type { ServerDocument, ToolDocument } from '../documents/forms.js';
import { type Answer, type Caller, refusal } from './callers.js';

/** The documents of one kind. Agents themselves belong to the tenant alone. */
export type DocumentsOf =
  | {
      readonly kind: 'agent';
      readonly box: Pick<HsafaAgentDocuments, 'list' | 'put' | 'delete'>;
      /** The field of a list. */
      readonly listed: 'agents';
    }
  | {
      readonly kind: 'tool' | 'server';
      readonly box: DocumentBox<ServerDocument> | DocumentBox<ToolDocument>;
      readonly listed: 'tools' | 'servers';
    };

/** The documents of one owner. */
interface OwnDocuments {
  readonly list: () => Promise<readonly object[]>;
  readonly put: (document: unknown) => Promise<object>;
  readonly delete: (name: string) => Promise<boolean>;
}

function ownedBy(documents: DocumentsOf, tenant: string, agent: string): OwnDocuments {
  if (documents.kind === 'agent') {
    const { box } = documents;
    return {
      list: () => box.list({ tenant }),
      put: (document) => box.put({ tenant }, document),
      delete: (name) => box.delete({ tenant }, name),
    };
  }
  const { box } = documents;
  const of = { tenant, agent };
  return {
    list: () => box.list(of),
    put: (document) => box.put(of, document),
    delete: (name) => box.delete(of, name),
  };
}

/** @throws errors of the store */
export async function documentsAnswer(
  documents: DocumentsOf,
  request: Request,
  { tenant, conversation }: Caller,
): Promise<Answer> {
  // A token for one conversation does not administer agents, even with the right.
  if (conversation !== undefined) return refusal(403, 'The caller is bound to a conversation');
  const { agent = '', name = '' } = request.params as Readonly<Record<string, string | undefined>>;
  const { listed, kind } = documents;
  const problem = kind === 'agent' ? undefined : idProblem('agent', agent);
  if (problem !== undefined) return refusal(400, problem);
  const own = ownedBy(documents, tenant, agent);
  switch (request.method) {
    case 'PUT':
      return await put(own, kind, { name, document: request.body as unknown });
    case 'DELETE':
      return (await own.delete(name))
        ? { status: 200, body: { deleted: true } }
        : refusal(404, `No such ${kind} document`);
    default:
      return { status: 200, body: { [listed]: await own.list() } };
  }
}

async function put(
  own: OwnDocuments,
  kind: DocumentsOf['kind'],
  { name, document }: { readonly name: string; readonly document: unknown },
): Promise<Answer> {
  if (!isRecord(document) || document['name'] !== name)
    return refusal(400, `The body must be a ${kind} document with the name of the path`);
  try {
    return { status: 200, body: await own.put(document) };
  } catch (error) {
    if (!(error instanceof DefinitionError)) throw error;
    const { message, code, problems } = error;
    return { status: 400, body: { error: message, code, problems } };
  }
}
