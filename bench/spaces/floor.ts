/** The floor: a process that commits each message to sqlite, and then writes it to the reader of its space. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DatabaseSync } from 'node:sqlite';

const [file = ''] = process.argv.slice(2);
const database = new DatabaseSync(file);
database.exec(
  'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE messages (space TEXT, position INTEGER, body TEXT, PRIMARY KEY (space, position))',
);
const insert = database.prepare('INSERT INTO messages VALUES (?, ?, ?)');
const readers = new Map<string, ServerResponse>();
const positions = new Map<string, number>();

const server = createServer((request, response) => {
  const [, space = ''] = (request.url ?? '').split('/');
  if (request.method === 'GET') {
    readers.set(space, response);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(': open\n\n');
    return;
  }
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (chunk: string) => {
    body += chunk;
  });
  request.on('end', () => {
    const position = (positions.get(space) ?? 0) + 1;
    positions.set(space, position);
    const { text } = JSON.parse(body) as { readonly text: string };
    const message = JSON.stringify({ position, text });
    insert.run(space, position, message);
    response.writeHead(201, { 'content-type': 'application/json' }).end(message);
    readers.get(space)?.write(`event: message\nid: ${position}\ndata: ${message}\n\n`);
  });
});
server.listen(0, '127.0.0.1', () => {
  process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
process.on('disconnect', () => process.exit());
