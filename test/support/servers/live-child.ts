/**
 * Child of `live-sockets.test.ts`. `watch` prints the messages that it gets; `publish` sends numbered messages as
 * long as there is a subscriber; `idle` subscribes and publishes, then has nothing left to do and must end by itself.
 */
import { openLiveChannel } from '../../../src/store/live/sockets.js';
import { delta } from '../samples/live-messages.js';

const [role = '', file = '', name = 'n'] = process.argv.slice(2);
const key = { tenant: 'default', conversationId: 'c1' };
const channel = openLiveChannel({ file });

function say(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

if (role === 'watch' || role === 'idle')
  channel.subscribe(key, { live: true }, (message) => {
    say({ heard: message });
  });
if (role === 'idle') channel.publish(delta('to myself'));
if (role === 'watch') process.stdin.resume();
if (role === 'publish') {
  let sent = 0;
  setInterval(() => {
    if (channel.watched(key) === undefined) return;
    sent += 1;
    channel.publish(delta(`${name}${sent}`));
  }, 5);
}
say({ ready: role });
