import { connect } from 'node:net';

/**
 * Asks for one path again and again over some connections, each request once the one before is answered, and prints what
 * came: node load.js URL KEY CONNECTIONS SECONDS. It only counts bytes, so that it needs little of the processors.
 */
const [url = '', key = '', connections = '1', seconds = '1'] = process.argv.slice(2);
const { hostname, port, pathname, search } = new URL(url);
const request = `GET ${pathname}${search} HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${key}\r\n\r\n`;
let answers = 0;
let bytes = 0;

async function ask(until: number): Promise<void> {
  const socket = connect(Number(port), hostname).setNoDelay(true);
  let head = '';
  /** Bytes of the body that are still to come; undefined while the head isn't whole. */
  let left: number | undefined;
  await new Promise<void>((resolve, reject) => {
    socket.on('error', reject);
    socket.on('data', (chunk: Buffer) => {
      let rest = chunk.length;
      if (left === undefined) {
        const before = head.length;
        head += chunk.toString('latin1');
        const end = head.indexOf('\r\n\r\n');
        if (end < 0) return;
        if (!head.startsWith('HTTP/1.1 200 ')) reject(new Error(head.slice(0, 500)));
        left = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1]);
        rest = chunk.length - (end + 4 - before);
        bytes += left;
      }
      left -= rest;
      if (left > 0) return;
      answers += 1;
      left = undefined;
      head = '';
      if (performance.now() < until) socket.write(request);
      else resolve(void socket.end());
    });
    socket.write(request);
  });
}

const started = performance.now();
const until = started + Number(seconds) * 1000;
await Promise.all(Array.from({ length: Number(connections) }, () => ask(until)));
const taken = (performance.now() - started) / 1000;
console.log(JSON.stringify({ answers, rate: answers / taken, bytes: Math.round(bytes / answers) }));
