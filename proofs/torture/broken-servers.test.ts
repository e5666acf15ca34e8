// Controls: the harness detects a broken driver. A harness that finds nothing anywhere proves nothing.
import { describe, expect, test } from 'vitest'
import { killServers } from './chaos.ts'
import type { Fault } from './faults.ts'
import type { Invariant } from './ledger.ts'
import { filesystemStore } from './stores.ts'
import { type TortureOptions, torture } from './torture.ts'

const program = new URL('./programs/broken-server.ts', import.meta.url)

describe('the torture detects a driver that', () => {
  // Random kills reveal a fault sooner or later; a blind harness never sees it.
  test.each<[Fault, Invariant, Pick<TortureOptions, 'until' | 'untilViolated'>]>([
    ['forgets what is spent', 'one successor', { untilViolated: 'one successor' }],
    ['inserts in two steps', 'one successor', { untilViolated: 'one successor' }],
    ['loses revocations', 'dead stays dead', { untilViolated: 'dead stays dead' }],
    ['answers before it has written', 'kept', { untilViolated: 'kept' }],
    // Found by the final checks.
    ['cuts records', 'records whole', { until: { refreshes: 20 } }],
  ])('%s', async (fault, invariant, end) => {
    const environment = { GRANTRY_FAULT: fault }
    const common = { program, environment, store: filesystemStore, chaos: killServers }
    const { violations } = await torture({ ...common, servers: 2, seconds: 1, ...end })
    expect(violations[invariant]).not.toEqual([])
  })
})
