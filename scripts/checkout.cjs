// Tells why this checkout can't be built or started, before Node.js and npm fail with a stack. Uses no package.
const { existsSync, readFileSync } = require('node:fs');
const { join } = require('node:path');

const root = join(__dirname, '..');
const isBuild = require.main === module;

function obstacle() {
  const needed = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).engines.node.replace('>=', '');
  const [least, current] = [needed, process.versions.node].map((version) => version.split('.').map(Number));
  if (current[0] < least[0] || (current[0] === least[0] && current[1] < least[1]))
    return `Daybook needs Node.js ${needed} or later, and this is ${process.versions.node}: install Node.js 24.`;
  if (isBuild && !existsSync(join(root, 'node_modules', 'typescript')))
    return 'The packages that build Daybook were left out (NODE_ENV=production, --omit=dev): run "npm ci --include=dev".';
  if (!isBuild && !existsSync(join(root, 'dist', 'cli.js')))
    return 'Daybook is not built: run "npm ci --include=dev && npm run build".';
}

const sentence = obstacle();
if (sentence !== undefined) {
  process.stderr.write(`${sentence}\n`);
  process.exit(2);
}
