/** Ends a run with the names of the suites that did not run, and why: their names say it. */
export default class SkippedSuites {
  onRunComplete(_contexts, { testResults }) {
    const names = testResults.flatMap(({ testResults: tests }) =>
      tests.filter(({ status }) => status === 'pending').map(({ ancestorTitles, title }) => ancestorTitles[0] ?? title),
    );
    for (const [name, { length }] of Object.entries(Object.groupBy(names, (name) => name))) {
      process.stderr.write(`Skipped (${length}): ${name}\n`);
    }
  }
}
