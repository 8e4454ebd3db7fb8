/** Tool documents over HTTP: list, put, delete, for callers with the right `admin`. Runs in Node. */
import type { Request } from 'express';
import { DefinitionError } from '../../../define/checks/problems.js';
import { idProblem } from '../../../protocol/values/ids.js';
import { isRecord } from '../../../protocol/values/json.js';
import type { DocumentOwner } from '../documents/stores.js';
import type { HsafaToolbox } from '../documents/toolbox.js';
import { type Answer, type Caller, refusal } from './callers.js';

const NOT_FOUND = refusal(404, 'No such tool document');

/** @throws errors of the store */
export async function documentsAnswer(
  toolbox: HsafaToolbox,
  request: Request,
  { tenant, conversation }: Caller,
): Promise<Answer> {
  // A token for one conversation does not administer the agent, even with the right.
  if (conversation !== undefined) return refusal(403, 'The caller is bound to a conversation');
  const { agent = '', name = '' } = request.params as Readonly<Record<string, string | undefined>>;
  const problem = idProblem('agent', agent);
  if (problem !== undefined) return refusal(400, problem);
  const of = { tenant, agent };
  switch (request.method) {
    case 'PUT':
      return await put(toolbox, of, { name, document: request.body as unknown });
    case 'DELETE':
      return (await toolbox.delete(of, name))
        ? { status: 200, body: { deleted: true } }
        : NOT_FOUND;
    default:
      return { status: 200, body: { tools: await toolbox.list(of) } };
  }
}

async function put(
  toolbox: HsafaToolbox,
  of: DocumentOwner,
  { name, document }: { readonly name: string; readonly document: unknown },
): Promise<Answer> {
  if (!isRecord(document) || document['name'] !== name)
    return refusal(400, 'The body must be a tool document with the name of the path');
  try {
    return { status: 200, body: await toolbox.put(of, document) };
  } catch (error) {
    if (!(error instanceof DefinitionError)) throw error;
    const { message, code, problems } = error;
    return { status: 400, body: { error: message, code, problems } };
  }
}
