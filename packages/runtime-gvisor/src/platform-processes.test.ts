import { expect, test } from 'vitest'
import { asPlatformKnows } from './platform-processes.ts'

const listed = [
  { pid: 1, parentPid: 0, uid: 0, name: 's6-svscan' },
  { pid: 9, parentPid: 1, uid: 0, name: 's6-supervise' },
  { pid: 10, parentPid: 9, uid: 0, name: 's6-ipcserverd' },
]

test('process 1 alone is, where it is the service itself', () => {
  const known = asPlatformKnows([
    { pid: 1, parentPid: 0, uid: 0, name: 's6-ipcserverd' },
    { pid: 20, parentPid: 1, uid: 0, name: 's6-sudod' },
    { pid: 21, parentPid: 1, uid: 0, name: 's6-ipcserverd' },
  ])
  expect(known.map((each) => each.isPlatform)).toEqual([true, false, false])
})

test('process 1, its supervisor and the service below it are the platform’s', () => {
  expect(asPlatformKnows(listed).every((each) => each.isPlatform)).toBe(true)
})

test('what a command started is not, whatever it is called', () => {
  const commands = [
    { pid: 20, parentPid: 10, uid: 0, name: 's6-sudod' },
    { pid: 21, parentPid: 1, uid: 1000, name: 's6-supervise' },
    { pid: 22, parentPid: 21, uid: 1000, name: 's6-ipcserverd' },
    { pid: 23, parentPid: 0, uid: 1000, name: 'bash' },
    { pid: 24, parentPid: 20, uid: 0, name: 's6-ipcserverd' },
  ]
  const known = asPlatformKnows([...listed, ...commands])
  expect(known.filter((each) => !each.isPlatform).map((each) => each.pid)).toEqual([20, 21, 22, 23, 24])
})
