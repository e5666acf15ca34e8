// A test that waits for a time fails by chance on a busy machine, or proves nothing there, and one that is tried again
// hides that. So tests wait for conditions (`test/support/eventually.ts`), and what may pause is listed with its reason.

import { expect, test } from 'vitest'
import { programs, type Source, sources } from './source-files.ts'

const thisFile = 'test/architecture/waits.test.ts'
const checked = [
  ...programs.filter(({ path }) => /^(?:test|proofs)\//u.test(path) && path !== thisFile),
  ...sources.filter(({ path }) => path.startsWith('packages/testing/')),
]

/** The only files with timers that resolve a promise: the others call them. */
const timers = [
  'packages/testing/src/drivers/timing.ts',
  'packages/testing/src/plugin/test-drivers.ts',
  // Runs in another process.
  'packages/testing/src/drivers/processes.ts',
  'test/support/pause.ts',
]

const reasons: Readonly<Record<string, readonly string[]>> = {
  'looks again for a condition, in a helper that also runs without Vitest or in another process': [
    'packages/testing/src/drivers/between-processes.ts',
    'packages/testing/src/drivers/commits.ts',
    'packages/testing/src/drivers/counters.ts',
    'proofs/overload/load.ts',
    'proofs/rotation/rotation-run.ts',
    'proofs/torture/sentinel-group.ts',
    'test/conformance/programs/separate-locks.ts',
    'test/support/built-once.ts',
    'test/support/fleet.ts',
    'test/support/ldap-server.ts',
    'test/support/postgresql-server.ts',
    'test/support/redis-cluster.ts',
    'test/support/redis-process.ts',
    'test/support/redis-replica.ts',
    'test/support/redis-sentinel.ts',
  ],
  'is how long a fake host or store takes': [
    'proofs/brute-force/programs/guesser.ts',
    'proofs/overload/narrow-store.ts',
    'proofs/races/forgetful-driver.ts',
    'proofs/torture/programs/broken-server.ts',
    'test/attacks/account-deletion.test.ts',
    'test/attacks/known-addresses-of-clients.test.ts',
    'test/attacks/outdated-plan.test.ts',
    'test/attacks/passwords-guessed-at-once.test.ts',
    'test/attacks/returned-permits.test.ts',
    'test/attacks/secret-guessing.test.ts',
    'test/concurrency/crowded-records.test.ts',
    'test/conformance/programs/broken-inserts.ts',
    'test/password/throttle.test.ts',
    'test/storage/unstorage-driver.test.ts',
    'test/support/latency.ts',
  ],
  'is the pace of a client, or of a proxy that checks servers': [
    'proofs/brute-force/brute-force.ts',
    'proofs/torture/send.ts',
    'proofs/torture/work.ts',
    'test/adapters/node-last-response.test.ts',
    'test/deploy/balancer.ts',
    'test/deploy/two-servers.test.ts',
    'test/framing/exchange.ts',
    'test/redis/cluster-replicas.test.ts',
    'test/redis/sentinel.test.ts',
  ],
  'is the moment of a fault, or of a measurement under load': [
    'packages/testing/src/drivers/replaced-items.ts',
    'proofs/overload/overload.ts',
    'proofs/torture/chaos.ts',
    'test/filesystem/crash.test.ts',
    'test/sqlite/processes.test.ts',
  ],
  'lets the real time pass for which a driver stores an item, and has no upper limit': [
    'packages/testing/src/drivers/expired-insert.ts',
    'packages/testing/src/drivers/expiry.ts',
  ],
  'is how long a runtime may take that leaves a connection open': ['test/framing/framing-case.ts'],
  'begins two bodies at two moments; a later second one is no failure': ['test/adapters/body-deadline.test.ts'],
  'ends after a timer of the same duration in a client library': ['test/redis/outage.test.ts'],
}

const allowed =
  (paths: readonly string[]) =>
  ({ path }: Source) =>
    paths.includes(path)

const forbidden: Readonly<Record<string, readonly [form: RegExp, isAllowed: (source: Source) => boolean]>> = {
  'is tried again': [/\bretry: *(?:\d|\{)/u, () => false],
  'has a timer of its own to wait': [
    /import \{[^}]*\bsetTimeout\b[^}]*\} from '(?:node:)?timers|\bsetTimeout\(\s*(?:resolve\b|\(\) => resolve\()(?![^\n]*\blastResort\b)/u,
    allowed(timers),
  ],
  'pauses without a reason in the list': [
    /(?<![.\w])(?:pause|randomPause|sleep)\((?![)'])/u,
    allowed([...timers, ...Object.values(reasons).flat()]),
  ],
  'asserts how long something took': [/expect\([^\n]*(?:performance\.now|hrtime|\bDate\.now\(\) -)/u, () => false],
}

const violations = (all: readonly Source[], rule: string): readonly string[] => {
  const [form, isAllowed] = forbidden[rule] ?? [/^/u, () => false]
  return all.filter((source) => form.test(source.text) && !isAllowed(source)).map(({ path }) => path)
}

test.each(Object.keys(forbidden))('no test or proof %s', (rule) => {
  expect(violations(checked, rule)).toEqual([])
})

test('every file in the lists pauses', () => {
  const [form] = forbidden['pauses without a reason in the list'] ?? [/^/u]
  const pausing = checked.filter(({ text }) => form.test(text)).map(({ path }) => path)
  expect(
    Object.values(reasons)
      .flat()
      .filter((path) => !pausing.includes(path)),
  ).toEqual([])
})

test.each([
  ['is tried again', "test('a', { retry: 2 }, async () => {})"],
  ['has a timer of its own to wait', "import { setTimeout as sleep } from 'node:timers/promises'"],
  ['has a timer of its own to wait', 'await new Promise((resolve) => setTimeout(resolve, 20))'],
  ['has a timer of its own to wait', 'new Promise((resolve) => {\n  setTimeout(\n    resolve, 20)\n})'],
  ['has a timer of its own to wait', "new Promise((resolve) => setTimeout(() => resolve('a'), 5))"],
  ['pauses without a reason in the list', 'await pause(100)'],
  ['asserts how long something took', 'expect(performance.now() - begun).toBeLessThan(2000)'],
])('the check finds a test that %s', (rule, text) => {
  expect(violations([{ path: 'test/a.ts', text }], rule)).toEqual(['test/a.ts'])
})
