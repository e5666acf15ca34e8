import { defaultServerConditions } from 'vite'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './scripts/longest-first.ts'
import { processFolders } from './scripts/process-folders.ts'
import { lastResort, pollInterval } from './test/support/eventually.ts'

// Tests run on the sources: the condition selects them in the `exports` of each package. Excludes `module`: Vitest
// passes the conditions to Node.js too, and only bundlers can load what OpenTelemetry exports under it.
const usual = defaultServerConditions.filter((condition) => condition !== 'module')
const ssr = { resolve: { conditions: ['@grantry/source', ...usual] } }

const processTests = processFolders.map((folder) => `test/${folder}/**/*.test.ts`)

// The files share a process. What one of them leaves behind may warn while another one reads what is printed.
const quiet = '--no-warnings'

const common = {
  setupFiles: './scripts/cpu-seconds.ts',
  // Loading the modules anew for each file would take most of the CPU time of a run.
  isolate: false,
  // Vitest sends what tests print to its main process, and fails a run that ends before the last message has arrived.
  disableConsoleIntercept: true,
  execArgv: [quiet],
  // A last resort, also on a machine that is busy with other things.
  testTimeout: 240_000,
  hookTimeout: 240_000,
  expect: { poll: { timeout: lastResort, interval: pollInterval } },
  // Concurrent tests mostly wait.
  maxConcurrency: 10,
}

export default defineConfig({
  ssr,
  test: {
    reporters: ['default', './scripts/plain-reporter.ts'],
    globalSetup: './scripts/temporary-directory.ts',
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        ssr,
        test: {
          ...common,
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: processTests,
          maxWorkers: 3,
          // Most objects of a test die with it. With more space for new ones, collecting them takes less CPU time.
          execArgv: [quiet, '--max-semi-space-size=64'],
          sequence: { groupOrder: 0 },
        },
      },
      {
        ssr,
        // More workers than two cores: many tests wait for a process or a store.
        test: { ...common, name: 'process', include: processTests, maxWorkers: 4, sequence: { groupOrder: 1 } },
      },
      {
        ssr,
        // They load both cores by themselves.
        test: {
          ...common,
          name: 'proofs',
          include: ['proofs/**/*.test.ts'],
          maxWorkers: 3,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
})
