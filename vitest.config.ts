import { defaultServerConditions } from 'vite'
import { defineConfig } from 'vitest/config'

// The sources are tested, not the build: the condition names them in each package's `exports`.
// Without `module`: Vitest hands the conditions to Node.js too, and what OpenTelemetry exports under that one only bundlers can load.
const usual = defaultServerConditions.filter((condition) => condition !== 'module')
const ssr = { resolve: { conditions: ['@grantry/source', ...usual] } }

const times = { testTimeout: 20_000, hookTimeout: 30_000 }

/** Tests that load the machine with processes of their own, or judge when something ends: nothing else runs beside them. */
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
          // Many of them wait, for a store or a process: two on one core are quicker than one.
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
