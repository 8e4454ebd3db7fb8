/** The document of spaces agrees with the code. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { MAX_ACTOR_CHARS } from '../../../src/protocol/limits/limits.js';
import * as limits from '../../../src/protocol/limits/service-limits.js';
import { SPACE_EVENT_KIND } from '../../../src/spaces/wakes.js';

const TEXT = readFileSync(new URL('../../../docs/spaces.md', import.meta.url), 'utf8');
const KIB = 1024;

it('has the bounds of spaces', () => {
  const depth = `${limits.MAX_SPACE_METADATA_DEPTH} levels`;
  for (const row of [
    `members of a space | ${limits.MAX_SPACE_MEMBERS.toLocaleString('en')}`,
    `name of a space or member | ${limits.MAX_SPACE_NAME_CHARS} characters`,
    `id of a member | ${MAX_ACTOR_CHARS} characters`,
    `metadata of a space | ${limits.MAX_SPACE_METADATA_BYTES / KIB} KiB as JSON, ${depth}`,
    `text of a message | ${limits.MAX_SPACE_TEXT_BYTES / KIB} KiB`,
    `metadata of a message | ${limits.MAX_SPACE_MESSAGE_METADATA_BYTES / KIB} KiB as JSON, ${depth}`,
  ])
    expect(TEXT).toContain(`| ${row} |`);
  expect(TEXT).toContain(`| page of spaces or messages | ${limits.MAX_SPACE_PAGE}, 50 unless`);
});

it('names the kind of the events that wake agents', () => {
  expect(TEXT).toContain(`\`${SPACE_EVENT_KIND}\``);
});
