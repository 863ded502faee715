import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

/**
 * Polls return as soon as they succeed. Vitest's default is to give up after one second, in which a busy machine may not
 * even write a file durably.
 */
const patientPolls = { expect: { poll: { timeout: 60_000 } } }

const database = {
  ...patientPolls,
  testTimeout: 90_000,
  hookTimeout: 120_000,
  // One file more than processors, because tests often wait: for a program, a browser, a timer.
  maxWorkers: availableParallelism() + 1,
}

const realDocks = { ...patientPolls, testTimeout: 240_000, hookTimeout: 600_000 }
const oneFileAtATime = { fileParallelism: false }

/**
 * Files that a worker runs one after the other without loading the modules again: loading takes a second a file. The modules
 * keep no state between files, and mocks end with their test.
 */
const sharedModules = { isolate: false, restoreMocks: true, unstubEnvs: true, unstubGlobals: true }
/**
 * Files that need a process of their own: they replace modules, functions of Node or globals of a browser for all of their
 * tests, or count what their process has open.
 */
const needOwnProcess = [
  'apps/control-plane/src/object-store/s3-store.test.ts',
  'apps/control-plane/src/public-web/**/*.test.ts',
  'apps/dashboard/**/{mail-links,live,query-client}.test.ts',
  'apps/host-agent/src/watches.test.ts',
  'apps/host-agent/src/**/{disk-pool,left-pipes,rcu-expedited}.test.ts',
  'packages/runtime-gvisor/src/**/{create-gvisor-driver,output-pipe,pipes-without-descriptors,run-detached}.test.ts',
]

const cheapPasswords = ['tests/testkit/src/cheap-passwords.ts']

/** The guard races a program that takes memory as fast as it can. On a busy machine it loses, as an agent would not. */
const racesOfMemory = 'packages/runtime-gvisor/src/memory/memory-guard.test.ts'

/** Emulated machines are slow, and slower beside other tests. */
const needMachines = [
  'packages/runtime-microvm/src/driver/create-microvm-driver.test.ts',
  'packages/runtime-microvm/src/machine/qemu/qemu-vmm.test.ts',
]

export default defineConfig({
  test: {
    // One PostgreSQL cluster for all projects: to make one and to migrate its template takes some seconds.
    globalSetup: ['tests/testkit/src/global-setup.ts'],
    // The shared server ends its Docks before the run ends.
    teardownTimeout: 180_000,
    projects: [
      {
        test: {
          name: 'unit',
          include: [
            'packages/!(contract)/**/*.test.ts',
            'apps/!(control-plane)/**/*.test.ts',
            'tests/{crash,repository,storage}/*.test.ts',
            'tests/testkit/**/*.test.ts',
            'bench/**/*.test.ts',
          ],
          exclude: ['**/node_modules/**', ...needOwnProcess, ...needMachines, racesOfMemory],
          ...database,
          ...sharedModules,
        },
      },
      { test: { name: 'own-process', include: needOwnProcess, ...database } },
      {
        test: {
          name: 'control-plane',
          include: ['packages/contract/**/*.test.ts', 'apps/control-plane/**/*.test.ts'],
          exclude: ['**/node_modules/**', ...needOwnProcess],
          setupFiles: cheapPasswords,
          ...database,
          ...sharedModules,
        },
      },
      {
        test: {
          name: 'api',
          include: ['tests/api/**/*.test.ts'],
          setupFiles: cheapPasswords,
          ...database,
          ...sharedModules,
        },
      },
      {
        test: {
          name: 'memory',
          include: [racesOfMemory],
          ...realDocks,
          ...oneFileAtATime,
          sequence: { groupOrder: 3 },
        },
      },
      {
        test: {
          name: 'microvm',
          include: needMachines,
          ...realDocks,
          ...oneFileAtATime,
          sequence: { groupOrder: 4 },
        },
      },
      // Run by script/prove microvm, not by script/test: emulated machines make it long.
      {
        test: {
          name: 'fleet',
          include: ['tests/e2e/fleet/*.test.ts'],
          ...realDocks,
          testTimeout: 600_000,
          ...oneFileAtATime,
        },
      },
      // Run by script/prove microvm, not by script/test.
      {
        test: {
          name: 'microvm-hostile',
          include: ['tests/microvm-hostile/*.test.ts'],
          ...realDocks,
          ...oneFileAtATime,
        },
      },
      // Run by script/prove model-gvisor, not by script/test.
      {
        test: {
          name: 'model-gvisor',
          include: ['tests/model-gvisor/*.test.ts'],
          ...realDocks,
          ...oneFileAtATime,
        },
      },
      { test: { name: 'model', include: ['tests/model/**/*.test.ts'], ...database, ...sharedModules } },
      {
        test: {
          name: 'e2e',
          include: ['tests/e2e/*.test.ts'],
          globalSetup: ['tests/e2e/support/shared-server.ts'],
          ...realDocks,
          ...oneFileAtATime,
          ...sharedModules,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: 'e2e-alone',
          include: ['tests/e2e/alone/*.test.ts'],
          ...realDocks,
          ...oneFileAtATime,
          ...sharedModules,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
})
