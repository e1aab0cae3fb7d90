import { readFileSync } from 'node:fs';
import fastify from 'fastify';

// A route that sends the bytes of a file, and nothing else: node bare-server.js FILE.
const body = readFileSync(process.argv[2] ?? '');
const app = fastify();
app.get('/api/v1/analytics/tokens', (_, reply) => reply.type('application/json; charset=utf-8').send(body));
console.log(`${await app.listen({ host: '127.0.0.1', port: 0 })}`);
