// Compares the table of imports in AGENTS.md with `IMPORTS` of eslint.config.mjs, which the lint enforces.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { IMPORTS } from '../../eslint.config.mjs';

const FILE = 'AGENTS.md';
const HEADER = /^\| folder \|.*\| packages \|$/;

/** The faults of the table, each `{file, line, message}`. */
export function importTableFaults(root) {
  const lines = readFileSync(join(root, FILE), 'utf8').split('\n');
  return importFaults(lines, IMPORTS).map((fault) => ({ file: FILE, ...fault }));
}

/** @param lines of a document with the table @param imports the table of the lint */
export function importFaults(lines, imports) {
  const header = lines.findIndex((text) => HEADER.test(text));
  if (header < 0) return [{ line: 1, message: 'has no table of imports' }];
  const length = lines.slice(header).findIndex((text) => !text.startsWith('|'));
  const rows = lines.slice(header + 2, length < 0 ? undefined : header + length);
  const seen = rows.map((text) => nameOf(cellsOf(text)[0]));
  const missing = Object.keys(imports).filter((folder) => !seen.includes(folder));
  return [
    ...rows.flatMap((text, index) =>
      rowFaults(cellsOf(text), imports).map((message) => ({ line: header + 3 + index, message })),
    ),
    ...missing.map((folder) => ({ line: header + 1, message: `has no row for src/${folder}` })),
  ];
}

function rowFaults([folder, , own, packages], imports) {
  const name = nameOf(folder);
  const allowed = imports[name];
  if (allowed === undefined) return [`src/${name} is not in IMPORTS of eslint.config.mjs`];
  const others = Object.keys(imports).filter((other) => other !== name);
  return [
    differs(`src/${name} may import`, ownOf(own, others), ownIn(allowed)),
    differs(`src/${name} may use`, packagesOf(packages), packagesIn(allowed)),
  ].filter((message) => message !== undefined);
}

/** `a, b; c in sub-folder`, `-`, or `all but a, b`. */
function ownOf(cell, others) {
  const [, names] = /^all but (.*)$/.exec(cell) ?? [];
  if (names === undefined) return placedIn(cell);
  return others.filter((other) => !listOf(names).includes(other));
}

function ownIn({ own, ownIn = {} }) {
  return [...own, ...placed(ownIn)];
}

/** `a, node built-ins; b in sub-folder`: each package with the place it is limited to. A remark is in parentheses. */
function packagesOf(cell) {
  return placedIn(cell).map((name) => name.replace(/^node built-ins(?= in |$)/, 'node:'));
}

function placedIn(cell) {
  return cell.split(';').flatMap((part) => {
    const [, names, place] = /^(.*?)(?: in (\S+))?$/.exec(part.trim());
    return listOf(names).map((name) => entry(name, place && nameOf(place)));
  });
}

function packagesIn({ packages, schema = [], only = {} }) {
  return [
    ...packages.map((name) => entry(name)),
    ...schema.map((name) => entry(name, '*.schema.ts')),
    ...placed(only),
  ];
}

function placed(places) {
  return Object.entries(places).flatMap(([place, names]) =>
    names.map((name) => entry(name, place)),
  );
}

function entry(name, place) {
  return place === undefined ? name : `${name} in ${place}`;
}

function differs(what, shown, allowed) {
  const extra = shown.filter((name) => !allowed.includes(name));
  const missing = allowed.filter((name) => !shown.includes(name));
  if (extra.length + missing.length === 0) return undefined;
  const parts = [
    ...(extra.length === 0 ? [] : [`not ${extra.join(', ')}`]),
    ...(missing.length === 0 ? [] : [`also ${missing.join(', ')}`]),
  ];
  return `by IMPORTS of eslint.config.mjs ${what} ${parts.join(', ')}`;
}

function cellsOf(row) {
  return row
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
}

function listOf(cell) {
  return cell
    .replaceAll(/\s*\([^)]*\)/g, '')
    .split(',')
    .map((name) => nameOf(name.trim()))
    .filter((name) => name !== '' && name !== '-');
}

function nameOf(cell) {
  return cell.replaceAll('`', '').trim();
}
