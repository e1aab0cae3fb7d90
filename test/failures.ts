import type { Reporter, SerializedError, TestCase, TestModule, TestSuite } from 'vitest/node';

/** Says at once why a test has failed: a run that is stopped never comes to the list at its end. */
export default class Failures implements Reporter {
  onTestCaseResult(test: TestCase): void {
    say(test.fullName, test.result().errors);
  }

  onTestSuiteResult(suite: TestSuite): void {
    say(suite.fullName, suite.errors());
  }

  onTestModuleEnd(module: TestModule): void {
    say(module.relativeModuleId, module.errors());
  }
}

function say(name: string, errors: readonly (SerializedError & { diff?: string })[] = []): void {
  for (const { message, diff = '', stacks = [] } of errors) {
    const places = stacks.map(({ file, line }) => `    at ${file}:${line}\n`);
    process.stdout.write(`FAILED ${name}\n${message}\n${diff}\n${places.join('')}`);
  }
}
