import { pause } from '../../test/support/pause.ts'
import type { Client } from './client.ts'
import type { Ledger } from './ledger.ts'
import type { SentinelGroup } from './sentinel-group.ts'
import type { Chaos } from './torture.ts'

/** The least number of tokens between two kills: on a busy machine, servers that only start would prove nothing. */
const tokensBetweenKills = 10

/**
 * Kills a random server every 150 to 800 ms and restarts it immediately, possibly while it is still starting. Waits while
 * the clients get no tokens.
 */
export const killServers: Chaos = async ({ fleet, ledger, random, ended }) => {
  const tokens = (): number => ledger.counts.families + ledger.counts.refreshes
  let before = tokens()
  while (!ended.aborted) {
    await pause(random.between(150, 800))
    if (tokens() < before + tokensBetweenKills) continue
    before = tokens()
    const port = random.pick(fleet.ports)
    await fleet.kill(port)
    ledger.count('kills')
    fleet.start(port)
  }
}

/** Milliseconds in which every client must continue when the store is back. */
const longestRecovery = 30_000

async function waitForProgress(clients: readonly Client[], ledger: Ledger): Promise<void> {
  const before = clients.map(({ refreshes }) => refreshes)
  const waiting = (): number => clients.filter(({ refreshes }, index) => refreshes === before[index]).length
  for (const end = Date.now() + longestRecovery; waiting() > 0 && Date.now() < end; ) await pause(50)
  ledger.check(
    'answers known',
    waiting() === 0,
    () => `${waiting()} clients do not continue although the store is back`,
  )
}

/**
 * Fails over repeatedly, sometimes to a replica that lags. After each failover, every client must continue by itself.
 */
export const failOver =
  (group: SentinelGroup): Chaos =>
  async ({ clients, ledger, random, ended }) => {
    for (;;) {
      await pause(random.between(2000, 4000))
      if (ended.aborted) return
      await group.failOver(random.pick([0, random.between(50, 500), random.between(2000, 3500)]))
      ledger.count('failovers')
      await waitForProgress(clients, ledger)
    }
  }

/** A store that can be taken away. */
export interface FickleStore {
  pause(): void
  resume(): void
  kill(): Promise<void>
  restart(): Promise<void>
}

/** Pauses a store, or kills and restarts it, repeatedly. It performs commands that were sent during a pause later. */
export const takeStoreAway =
  (store: FickleStore): Chaos =>
  async ({ clients, ledger, random, ended }) => {
    for (;;) {
      await pause(random.between(200, 1500))
      if (ended.aborted) return
      const isPaused = random.chance(0.7)
      if (isPaused) store.pause()
      else await store.kill()
      await pause(random.between(0, 4000))
      if (isPaused) store.resume()
      else await store.restart()
      ledger.count('outages')
      await waitForProgress(clients, ledger)
    }
  }
