/** Documents of agents, tools and MCP servers over HTTP: list, put, delete, for callers with the right `admin`. Runs in Node. */
import type { Request } from 'express';
import { DefinitionError } from '../../../define/checks/problems.js';
import { idProblem } from '../../../protocol/values/ids.js';
import { isRecord } from '../../../protocol/values/json.js';
import type { HsafaAgentDocuments } from '../documents/agent-documents.js';
import type { DocumentBox } from '../documents/box.js';
import type { ServerDocument, ToolDocument } from '../documents/forms.js';
import type { DocumentOwner } from '../documents/stores.js';
import { type Answer, type Caller, refusal } from './callers.js';

/** The documents of one kind. */
export interface DocumentsOf {
  readonly box:
    | DocumentBox<ServerDocument>
    | DocumentBox<ToolDocument>
    | Pick<HsafaAgentDocuments, 'list' | 'put' | 'delete'>;
  /** The field of a list. */
  readonly listed: 'agents' | 'tools' | 'servers';
  readonly kind: 'agent' | 'tool' | 'server';
}

/** @throws errors of the store */
export async function documentsAnswer(
  documents: DocumentsOf,
  request: Request,
  { tenant, conversation }: Caller,
): Promise<Answer> {
  // A token for one conversation does not administer agents, even with the right.
  if (conversation !== undefined) return refusal(403, 'The caller is bound to a conversation');
  const { agent, name = '' } = request.params as Readonly<Record<string, string | undefined>>;
  // Agents themselves belong to the tenant alone.
  const problem = agent === undefined ? undefined : idProblem('agent', agent);
  if (problem !== undefined) return refusal(400, problem);
  const of = { tenant, agent: agent ?? '' };
  const { box, listed, kind } = documents;
  switch (request.method) {
    case 'PUT':
      return await put(documents, of, { name, document: request.body as unknown });
    case 'DELETE':
      return (await box.delete(of, name))
        ? { status: 200, body: { deleted: true } }
        : refusal(404, `No such ${kind} document`);
    default:
      return { status: 200, body: { [listed]: await box.list(of) } };
  }
}

async function put(
  { box, kind }: DocumentsOf,
  of: DocumentOwner,
  { name, document }: { readonly name: string; readonly document: unknown },
): Promise<Answer> {
  if (!isRecord(document) || document['name'] !== name)
    return refusal(400, `The body must be a ${kind} document with the name of the path`);
  try {
    return { status: 200, body: await box.put(of, document) };
  } catch (error) {
    if (!(error instanceof DefinitionError)) throw error;
    const { message, code, problems } = error;
    return { status: 400, body: { error: message, code, problems } };
  }
}
