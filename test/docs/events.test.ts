/** Checks docs/generated/events.md against the types of events. COLLOQUY_WRITE_DOCS=1 writes it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, it } from 'vitest';
import { wrapped } from '../../scripts/docs/prose-width.mjs';

const at = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const PAGE = at('docs/generated/events.md');
const SOURCES = ['events', 'call-events', 'live-events'].map(
  (name) => `src/protocol/log/${name}.ts`,
);

interface Field {
  readonly name: string;
  readonly type: string;
  readonly meaning: string;
}

interface Shape {
  readonly type: string;
  readonly meaning: string;
  readonly fields: readonly Field[];
}

/** The interfaces of a file that have a literal `type`, in order. */
function shapesIn(path: string): readonly Shape[] {
  const file = ts.createSourceFile(
    path,
    readFileSync(at(path), 'utf8'),
    ts.ScriptTarget.Latest,
    true,
  );
  return file.statements.flatMap((statement) => {
    if (!ts.isInterfaceDeclaration(statement)) return [];
    const members = statement.members.filter((member) => ts.isPropertySignature(member));
    const named = members.find((member) => member.name.getText() === 'type')?.type;
    if (named === undefined || !ts.isLiteralTypeNode(named)) return [];
    const fields = members.flatMap((member) => {
      const name = member.name.getText();
      if (name === 'type' || member.type === undefined) return [];
      const optional = member.questionToken === undefined ? '' : '?';
      return [
        {
          name: `${name}${optional}`,
          type: oneLine(member.type.getText()),
          meaning: docOf(member),
        },
      ];
    });
    return [{ type: named.getText().replaceAll("'", ''), meaning: docOf(statement), fields }];
  });
}

function docOf(node: ts.Node): string {
  const [doc] = ts.getJSDocCommentsAndTags(node);
  return doc === undefined ? '' : oneLine(ts.getTextOfJSDocComment(doc.comment) ?? '');
}

function oneLine(text: string): string {
  return text
    .replaceAll(/\/\*\*[^]*?\*\//g, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll('|', '\\|')
    .trim();
}

function section({ type, meaning, fields }: Shape): string {
  const rows = fields.map(
    ({ name, type: of, meaning: what }) => `| \`${name}\` | \`${of}\` | ${what} |`,
  );
  const table =
    rows.length === 0 ? [] : ['', '| field | type | meaning |', '|---|---|---|', ...rows];
  return [`### \`${type}\``, ...(meaning === '' ? [] : ['', wrapped(meaning)]), ...table, ''].join(
    '\n',
  );
}

function page(): string {
  const [canonical = [], calls = [], live = []] = SOURCES.map(shapesIn);
  const introduction = `Generated from the types in \`src/protocol/log\` by \`test/docs/events.test.ts\`;
    \`COLLOQUY_WRITE_DOCS=1 npx vitest run --project docs\` writes it. [The event log](../event-log.md) says how to read
    them. Every event of the log also has \`seq\` (dense, from 1), \`at\` (ISO 8601) and, where signals were refused
    without an event of their own since the event before, \`unrecordedRefusals\` (their number). Readers ignore types
    that they do not know; fields are only ever added.`;
  return `# Events and their fields

${wrapped(introduction)}

## Conversation and turns

${canonical.map(section).join('\n')}
## Tool calls

${calls.map(section).join('\n')}
## Live events

May be lost, and have no \`seq\`: the canonical event of the same item replaces them.

${live.map(section).join('\n')}`;
}

it('the page of events agrees with their types', () => {
  const wanted = page();
  if (process.env['COLLOQUY_WRITE_DOCS'] === '1') writeFileSync(PAGE, wanted);
  expect(readFileSync(PAGE, 'utf8')).toBe(wanted);
});

it('every type of event is found, with its fields', () => {
  const types = SOURCES.flatMap(shapesIn).map(({ type }) => type);
  expect(types).toContain('suspension');
  expect(types).toContain('tool_result');
  expect(new Set(types).size).toBe(types.length);
  expect(types.length).toBeGreaterThan(40);
});
