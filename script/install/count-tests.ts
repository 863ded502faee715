/**
 * Summarizes vitest's JSON reports: prints the names of tests that passed only on a retry, then "N passed, N failed". The exit
 * code is 1 if anything failed. Arguments: the number of other checks that failed, then the paths of the reports.
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
if (flaky.length > 0) console.log(`\nFlaky tests, which passed only on a retry:\n${flaky.join('\n')}`)

// A test file that cannot be loaded has no failed tests, but must count as a failure.
const hasPassed =
  brokenChecks === '0' && reports.every((report) => report.success && report.numPassedTests > 0)
console.log(`\n${passed} passed, ${Math.max(failed, hasPassed ? 0 : 1)} failed`)
process.exitCode = hasPassed ? 0 : 1
