// Controls: the harness detects a broken driver. A harness that finds nothing anywhere proves nothing.
import { describe, expect, test } from 'vitest'
import { killServers } from './chaos.ts'
import type { Fault } from './faults.ts'
import type { Invariant } from './ledger.ts'
import { filesystemStore } from './stores.ts'
import { torture } from './torture.ts'
import type { Happenings } from './verdict.ts'

const program = new URL('./programs/broken-server.ts', import.meta.url)

describe('the torture detects a driver that', () => {
  test.each<[Fault, Invariant, Happenings]>([
    ['forgets what is spent', 'one successor', { kills: 3, twins: 20 }],
    ['inserts in two steps', 'one successor', { twins: 30 }],
    ['loses revocations', 'dead stays dead', { kills: 3, revocations: 5 }],
    ['answers before it has written', 'kept', { kills: 3, families: 50 }],
    ['cuts records', 'records whole', { refreshes: 20 }],
  ])(
    '%s',
    // Random kills reveal a fault with some probability only; a blind harness never sees it.
    { retry: 2 },
    async (fault, invariant, until) => {
      const environment = { GRANTRY_FAULT: fault }
      const common = { program, environment, store: filesystemStore, chaos: killServers }
      const { violations } = await torture({ ...common, servers: 2, seconds: 1, until })
      expect(violations[invariant]).not.toEqual([])
    },
  )
})
