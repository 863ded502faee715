/**
 * Summarizes vitest's JSON reports: prints the tests that passed only on a retry, the failed tests with the start of their
 * messages, then "N passed, N failed". The end of the output alone says what failed. The exit code is 1 if anything
 * failed. Arguments: the number of other checks that failed, then the paths of the reports.
 */
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { stripVTControlCharacters } from 'node:util'

const LINES_OF_MESSAGE = 12
const FAILURES_SHOWN = 20

type Report = {
  numPassedTests: number
  numFailedTests: number
  success: boolean
  testResults: {
    name: string
    status: string
    /** Why the file itself failed, for example an import that was not found. */
    message: string
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

const firstLines = (message: string) =>
  stripVTControlCharacters(message).split('\n').slice(0, LINES_OF_MESSAGE)
const failures = reports
  .flatMap((report) => report.testResults)
  .filter(({ status }) => status === 'failed')
  .flatMap(({ name, message, assertionResults }) => {
    const tests = assertionResults.filter(({ status }) => status === 'failed')
    const file = relative(process.cwd(), name)
    return tests.length === 0
      ? [[`  ${file}`, ...firstLines(message)]]
      : tests.map(({ fullName, failureMessages }) => [
          `  ${file}: ${fullName}`,
          ...failureMessages.flatMap(firstLines),
        ])
  })
if (failures.length > 0) {
  const shown = failures.slice(0, FAILURES_SHOWN).map((lines) => lines.join('\n      '))
  const rest = failures.length - shown.length
  console.log(`\nFailed tests:\n${shown.join('\n')}${rest > 0 ? `\n  and ${rest} more` : ''}`)
}

// A test file that cannot be loaded has no failed tests, but must count as a failure.
const hasPassed =
  brokenChecks === '0' && reports.every((report) => report.success && report.numPassedTests > 0)
console.log(`\n${passed} passed, ${Math.max(failed, hasPassed ? 0 : 1)} failed`)
process.exitCode = hasPassed ? 0 : 1
