/** The description of the API, for people who write clients and for programs that make them. */
import { readFileSync } from 'node:fs';
import type { Router } from 'express';
import { type OpenApiDocument, openApiDocument } from '../../openapi/document.js';
import { addRoute } from '../../request/router.js';
import { sendTagged } from '../../request/tags.js';

const MANIFEST = new URL('../../../../package.json', import.meta.url);
let made: OpenApiDocument | undefined;

export function addDescriptionRoute(router: Router): void {
  addRoute(router, '/openapi.json', {
    get: (request, response) => {
      made ??= openApiDocument(versionOf(readFileSync(MANIFEST, 'utf8')));
      sendTagged(request, response, made);
    },
  });
}

function versionOf(manifest: string): string {
  return (JSON.parse(manifest) as { readonly version: string }).version;
}
