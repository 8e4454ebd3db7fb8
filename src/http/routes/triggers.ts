/** Triggers of a conversation: make, list, read, pause, resume, remove, and their note. */
import type { Request, Router } from 'express';
import type { TriggerSpec } from '../../protocol/triggers/triggers.js';
import type { Actor } from '../../protocol/values/actors.js';
import { actorOf } from '../identity/callers.js';
import { idOfKey } from '../limits/keys.js';
import type { AppDeps } from '../request/deps.js';
import { parseBody, pathParameter } from '../request/parse.js';
import { addRoute } from '../request/router.js';
import { conversationOf } from '../request/tenants.js';
import { CreateTriggerSchema, NoBodySchema, TriggerNoteSchema } from '../schemas/bodies.js';

const LIST = '/v1/conversations/:id/triggers';
const ONE = `${LIST}/:triggerId`;

/** An id made of the `Idempotency-Key`, so that a repeat without an id of its own finds the trigger of the first. */
function mintedId(request: Request, actor: Actor): { readonly id?: string } {
  const key = request.get('idempotency-key');
  return key === undefined ? {} : { id: idOfKey('t', actor, key) };
}

/** A repeat of `POST …/triggers` with the same `id` and content answers as the first one did. */
export function addTriggerRoutes(router: Router, deps: AppDeps): void {
  addRoute(router, LIST, {
    get: async (request, response) => {
      const triggers = await conversationOf(deps, request).triggers().list();
      response.json({ triggers });
    },
    post: async (request, response) => {
      const { actor: named, ...given } = parseBody(CreateTriggerSchema, request);
      const actor = actorOf(request, named);
      const spec = { ...mintedId(request, actor), ...given };
      const triggers = conversationOf(deps, request).triggers({ actor });
      // The client refuses a body that is no declaration.
      response.status(201).json(await triggers.create(spec as unknown as TriggerSpec));
    },
  });
  addRoute(router, ONE, {
    get: async (request, response) => {
      const id = pathParameter(request, 'triggerId');
      response.json(await conversationOf(deps, request).triggers().get(id));
    },
    delete: async (request, response) => {
      parseBody(NoBodySchema, request);
      const id = pathParameter(request, 'triggerId');
      await conversationOf(deps, request).triggers().remove(id);
      response.json({ removed: true, triggerId: id });
    },
  });
  for (const change of ['pause', 'resume'] as const)
    addRoute(router, `${ONE}/${change}`, {
      post: async (request, response) => {
        parseBody(NoBodySchema, request);
        const id = pathParameter(request, 'triggerId');
        response.json(await conversationOf(deps, request).triggers()[change](id));
      },
    });
  addRoute(router, `${ONE}/note`, {
    post: async (request, response) => {
      const { note } = parseBody(TriggerNoteSchema, request);
      const id = pathParameter(request, 'triggerId');
      response.json(await conversationOf(deps, request).triggers().setNote(id, note));
    },
  });
}
