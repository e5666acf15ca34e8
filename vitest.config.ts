import { defaultServerConditions } from 'vite'
import { defineConfig } from 'vitest/config'

// The sources are tested, not the build: the condition names them in each package's `exports`.
const ssr = { resolve: { conditions: ['@grantry/source', ...defaultServerConditions] } }

export default defineConfig({
  ssr,
  test: {
    include: ['test/**/*.test.ts'],
    reporters: ['default', './scripts/plain-reporter.ts'],
    typecheck: { enabled: true, include: ['test/types/**/*.test-d.ts'], tsconfig: './tsconfig.json' },
    testTimeout: 20_000,
    hookTimeout: 30_000,
  },
})
