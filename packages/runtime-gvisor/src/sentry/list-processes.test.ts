import { expect, test } from 'vitest'
import { listProcesses } from './list-processes.ts'
import { SentryRefused } from './sentry-connection.ts'

const sandbox = {
  runscName: 'sandbox',
  sentry: async () => ({ processes: () => Promise.reject(new SentryRefused('unknown method')) }),
}
const runscOf = (stdout: string, code = 0) => ({ run: async () => ({ code, stdout, stderr: '' }) })
const header = 'UID       PID       PPID      C         TTY       STIME     TIME      CMD'

test('if the sentry refuses, runsc ps lists the processes', async () => {
  const table = `${header}
0         1         0         0         ?         09:30     20ms      s6-ipcserverd
1000      12        1         0         pts/0     09:31     1.5s      two words`
  expect(await listProcesses(runscOf(table), sandbox)).toEqual([
    { pid: 1, parentPid: 0, uid: 0, name: 's6-ipcserverd', isPlatform: true },
    { pid: 12, parentPid: 1, uid: 1000, name: 'two words', isPlatform: false },
  ])
})

// Go's tabwriter treats a byte 0xff in a name as an escape, and then keeps the tabs of the following row.
test('a process name with line breaks hides no process', async () => {
  const table = `${header}
0         1         0         0         ?         09:30     20ms      s6-ipcserverd
1000      12        1         0         ?         09:31     1.5s      one
another
1000\t13\t1\t0\t?\t09:31\t1.5s\tlast`
  expect((await listProcesses(runscOf(table), sandbox)).map(({ pid }) => pid)).toEqual([1, 12, 13])
})

test.each([
  ['fails', runscOf('', 128)],
  ['lists no process 1', runscOf(`${header}\n1000      12        1         0`)],
])('the error of the sentry is thrown if runsc ps %s', async (_, runsc) => {
  await expect(listProcesses(runsc, sandbox)).rejects.toThrow('unknown method')
})
