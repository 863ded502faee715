import { expect, test } from 'vitest'
import { flagPlatformProcesses } from './platform-processes.ts'

const listed = [
  { pid: 1, parentPid: 0, uid: 0, name: 's6-svscan' },
  { pid: 9, parentPid: 1, uid: 0, name: 's6-supervise' },
  { pid: 10, parentPid: 9, uid: 0, name: 's6-ipcserverd' },
]

test('only process 1 is a platform process if it is the sudo service itself', () => {
  const known = flagPlatformProcesses([
    { pid: 1, parentPid: 0, uid: 0, name: 's6-ipcserverd' },
    { pid: 20, parentPid: 1, uid: 0, name: 's6-sudod' },
    { pid: 21, parentPid: 1, uid: 0, name: 's6-ipcserverd' },
  ])
  expect(known.map((each) => each.isPlatform)).toEqual([true, false, false])
})

test('process 1, its supervisor and the service below it are platform processes', () => {
  expect(flagPlatformProcesses(listed).every((each) => each.isPlatform)).toBe(true)
})

test('processes of a command are not platform processes, whatever their names', () => {
  const commands = [
    { pid: 20, parentPid: 10, uid: 0, name: 's6-sudod' },
    { pid: 21, parentPid: 1, uid: 1000, name: 's6-supervise' },
    { pid: 22, parentPid: 21, uid: 1000, name: 's6-ipcserverd' },
    { pid: 23, parentPid: 0, uid: 1000, name: 'bash' },
    { pid: 24, parentPid: 20, uid: 0, name: 's6-ipcserverd' },
  ]
  const known = flagPlatformProcesses([...listed, ...commands])
  expect(known.filter((each) => !each.isPlatform).map((each) => each.pid)).toEqual([20, 21, 22, 23, 24])
})
