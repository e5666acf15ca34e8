import { defaultServerConditions } from 'vite'
import { defineConfig } from 'vitest/config'

// Tests run on the sources: the condition selects them in the `exports` of each package. Excludes `module`: Vitest
// passes the conditions to Node.js too, and only bundlers can load what OpenTelemetry exports under it.
const usual = defaultServerConditions.filter((condition) => condition !== 'module')
const ssr = { resolve: { conditions: ['@grantry/source', ...usual] } }

const times = { testTimeout: 20_000, hookTimeout: 30_000 }

/** Tests that start many processes or measure time; they run one at a time. */
const alone = ['races', 'torture', 'overload', 'framing'].map((folder) => `test/${folder}/**/*.test.ts`)

export default defineConfig({
  ssr,
  test: {
    reporters: ['default', './scripts/plain-reporter.ts'],
    projects: [
      {
        ssr,
        test: {
          name: 'side by side',
          include: ['test/**/*.test.ts'],
          exclude: alone,
          // Many tests wait for a store or process, so two workers are faster than one even on a single core.
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
          typecheck: { enabled: true, include: ['test/types/**/*.test-d.ts'], tsconfig: './tsconfig.json' },
          ...times,
        },
      },
      {
        ssr,
        test: { name: 'alone', include: alone, maxWorkers: 1, sequence: { groupOrder: 1 }, ...times },
      },
    ],
  },
})
