/** Prints "N passed, N failed" from vitest's JSON report; the exit code is 1 when anything is not good. */
import { readFileSync } from 'node:fs'

type Report = {
  numPassedTests: number
  numFailedTests: number
  numFailedTestSuites: number
  success: boolean
}

const [reportPath = '', brokenChecks = '0'] = process.argv.slice(2)
const nothing: Report = { numPassedTests: 0, numFailedTests: 0, numFailedTestSuites: 0, success: false }

const read = (): Report => {
  try {
    return JSON.parse(readFileSync(reportPath, 'utf8')) as Report
  } catch {
    return nothing
  }
}

const report = read()
// A file that cannot be loaded has no failed test, and still must not count as good.
const good =
  report.success && report.numFailedTests === 0 && report.numPassedTests > 0 && brokenChecks === '0'
console.log(`\n${report.numPassedTests} passed, ${Math.max(report.numFailedTests, good ? 0 : 1)} failed`)
process.exitCode = good ? 0 : 1
