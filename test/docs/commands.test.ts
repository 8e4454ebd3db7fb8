/** The tables of docs/commands.md have every command of the program. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

it('the page of commands has a row for every command', () => {
  const main = `${ROOT}dist/cli/main.js`;
  const help = execFileSync(process.execPath, [main, '--help'], { encoding: 'utf8' });
  const [, listed = ''] = help.split('\nCommands:\n');
  const [commands = ''] = listed.split('\n\n');
  const names = [...commands.matchAll(/^ {2}([a-z][\w-]*)/gm)].map(([, name = '']) => name);
  expect(names).toContain('webhooks');
  const rows = readFileSync(`${ROOT}docs/commands.md`, 'utf8').matchAll(/^\| (`.*?) \| /gm);
  const documented = [...rows].map(([, cell = '']) => cell).join(' ');
  const missing = names.filter((name) => !new RegExp(`\`${name}[ \`]`).test(documented));
  expect(missing).toEqual(['help']);
});
