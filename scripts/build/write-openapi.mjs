// Writes dist/openapi.json, the description of the HTTP API for users of the package: `colloquy/openapi.json`.
import { readFileSync, writeFileSync } from 'node:fs';
import { openApiDocument } from '../../dist/http/openapi/document.js';

const root = new URL('../../', import.meta.url);
const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));
const text = JSON.stringify(openApiDocument(version));
writeFileSync(new URL('dist/openapi.json', root), text);
