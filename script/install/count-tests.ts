/**
 * Prints "N passed, N failed" of vitest's JSON reports, after the names of tests that passed only when they were run
 * again; the exit code is 1 when anything is not good. Arguments: how many other checks failed, then the reports.
 */
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'

type Report = {
  numPassedTests: number
  numFailedTests: number
  success: boolean
  testResults: {
    name: string
    assertionResults: { fullName: string; status: string; failureMessages: string[] }[]
  }[]
}

const [brokenChecks = '0', ...reportPaths] = process.argv.slice(2)
const nothing: Report = { numPassedTests: 0, numFailedTests: 0, success: false, testResults: [] }

const read = (path: string): Report => {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Report
  } catch {
    return nothing
  }
}

const reports = reportPaths.map(read)
const passed = reports.reduce((sum, report) => sum + report.numPassedTests, 0)
const failed = reports.reduce((sum, report) => sum + report.numFailedTests, 0)
const flaky = reports
  .flatMap((report) => report.testResults)
  .flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status, failureMessages }) => status === 'passed' && failureMessages.length > 0)
      .map(({ fullName }) => `  ${relative(process.cwd(), name)}: ${fullName}`),
  )
if (flaky.length > 0) console.log(`\nFlaky, passed when run again:\n${flaky.join('\n')}`)

// A file that cannot be loaded has no failed test, and still must not count as good.
const good = brokenChecks === '0' && reports.every((report) => report.success && report.numPassedTests > 0)
console.log(`\n${passed} passed, ${Math.max(failed, good ? 0 : 1)} failed`)
process.exitCode = good ? 0 : 1
