// A busy machine can need a minute for what takes a millisecond. So a test that waits for something has the limits of
// vitest.config.ts, which only end a test that hangs, and no limit of its own.

import { expect, test } from 'vitest'
import { programs, type Source } from './source-files.ts'

const forbidden: Readonly<Record<string, RegExp>> = {
  'waits with a limit of its own': /\bvi\s*\.\s*wait(?:For|Until)\b/u,
  'gives expect.poll a limit of its own': /\.poll\((?:(?!\.to|\.not|\n\n)[\s\S])*?\btimeout:/u,
  'gives a browser a limit of its own': /\bsetDefault(?:Navigation)?Timeout\(/u,
  // `{ timeout: 5000 }` between the title and the function, or a number after the function.
  'gives a test a limit of its own':
    /\bvi\.setConfig\(|\{ timeout: [\d_]+(?:, \w+: \d+)? \},\s*(?:async\b|\()|^ *\}, \d[\d_]{4,}\)$/mu,
  'starts a server with the usual limits, not by test/support/patient-server.ts':
    /^import \{[^}]*\bstartServer\b[^}]*\} from '[./]+\/packages\/server\/src\/server\.ts'$/mu,
}
const allowed = [
  'test/architecture/time-limits.test.ts',
  'test/support/eventually.ts',
  'test/support/chromium.ts',
  'test/support/patient-server.ts',
]

const violations = (sources: readonly Source[], rule: string): readonly string[] =>
  sources.filter(({ path, text }) => !allowed.includes(path) && forbidden[rule]?.test(text)).map(({ path }) => path)

test.each(Object.keys(forbidden))('no test %s', (rule) => {
  expect(violations(programs, rule)).toEqual([])
})

test.each([
  ['waits with a limit of its own', 'await vi.waitFor(() => expect(a).toBe(1))'],
  ['waits with a limit of its own', 'await vi.waitUntil(() => a, { timeout: 100_000 })'],
  ['gives expect.poll a limit of its own', 'await expect.poll(() => a, { timeout: 10_000 }).toBe(1)'],
  ['gives expect.poll a limit of its own', 'await expect\n  .poll(() => f(a), {\n    interval: 5,\n    timeout: 10 })'],
  ['gives a browser a limit of its own', 'page.setDefaultTimeout(15_000)'],
  ['gives a test a limit of its own', "test('a', { timeout: 60_000 }, async () => {})"],
  ['gives a test a limit of its own', 'vi.setConfig({ testTimeout: 60_000 })'],
  ['gives a test a limit of its own', "test('a', async () => {\n}, 120_000)\n"],
  [
    'starts a server with the usual limits, not by test/support/patient-server.ts',
    "import { type GrantryServer, startServer } from '../../packages/server/src/server.ts'",
  ],
])('the check finds a test that %s', (rule, text) => {
  expect(violations([{ path: 'test/a.ts', text }], rule)).toEqual(['test/a.ts'])
})
