// Adds up vitest's JSON reports and prints the run's closing line. Fails when there is none, or no test ran.
import { readFileSync } from 'node:fs';

const reports = process.argv
  .slice(2)
  .filter((file) => !file.includes('*'))
  .map((file) => JSON.parse(readFileSync(file, 'utf8')));
const sum = (/** @type {string} */ key) => reports.reduce((total, report) => total + report[key], 0);
// A file that could not be loaded has no tests to fail.
const broken = reports
  .flatMap(({ testResults }) => testResults)
  .filter(({ status, assertionResults }) => status === 'failed' && !assertionResults.some((test) => test.status === 'failed'));
const passed = sum('numPassedTests');
const failed = sum('numFailedTests') + broken.length;
const skipped = sum('numPendingTests') + sum('numTodoTests');
console.log(`\n${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exitCode = passed > 0 && failed === 0 ? 0 : 1;
