// Ends a program that an older Node.js runs, with a sentence. The programs import only this statically: their other imports would fail there
// first, with a stack.

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  const sentence = `Daybook needs Node.js 20.19 or later, and this is ${process.versions.node}: install Node.js 24.`;
  process.stderr.write(`${sentence}\n`);
  process.exit(2);
}
