import { readFileSync } from 'node:fs'
import type { Fleet } from '../../test/support/fleet.ts'
import type { Client } from './client.ts'
import type { RevokedFamily, SpentToken } from './family.ts'
import { inspect } from './inspector.ts'
import { abbreviate, type Ledger } from './ledger.ts'
import { createRefresh, type Refresh } from './refresh.ts'
import type { Send } from './send.ts'
import type { TorturedStore } from './stores.ts'
import { retryWindow } from './window.ts'

/** Concurrently, so that a few thousand revoked families are checked in seconds. */
async function inParallel<T>(items: readonly T[], act: (item: T) => Promise<void>): Promise<void> {
  const left = [...items]
  const worker = async (): Promise<void> => {
    for (let item = left.pop(); item !== undefined; item = left.pop()) await act(item)
  }
  await Promise.all(Array.from({ length: 16 }, worker))
}

/** Whether a retry must be answered: it arrives well before the window ends. */
export const isRetryable = ({ firstSentAt }: SpentToken, now: number): boolean =>
  now < firstSentAt + (retryWindow / 2) * 1000

/** A client's tokens still work on servers that started after they were issued. */
async function assertTokensWork({ family }: Client, refresh: Refresh, ledger: Ledger): Promise<void> {
  if (family === undefined) return
  const { lastSpent, refreshToken } = family
  if (lastSpent !== undefined && isRetryable(lastSpent, Date.now())) {
    const { status } = await refresh.present(family, lastSpent.token)
    ledger.check('retry answered', status === 200, () => `${abbreviate(lastSpent.token)} was refused after the restart`)
  }
  const state = await refresh.advance(family, 1)
  ledger.check('kept', state === 'alive', () => `${abbreviate(refreshToken)} does not work after the restart`)
}

/** How often the servers logged it. A killed server may have left half a line. */
export function eventsIn(logs: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const log of logs) {
    for (const [, type = ''] of readFileSync(log, 'utf8').matchAll(/"event\.name":"(\w+)"/gu)) {
      counts[type] = (counts[type] ?? 0) + 1
    }
  }
  return counts
}

/** Kills everything, reads the store, restarts every server, and checks every token again. */
export async function runFinalChecks(deps: {
  readonly fleet: Fleet
  readonly store: TorturedStore
  readonly clients: readonly Client[]
  readonly revokedFamilies: readonly RevokedFamily[]
  readonly send: Send
  readonly ledger: Ledger
}): Promise<{ readonly records: number; readonly events: Readonly<Record<string, number>> }> {
  const { fleet, store, clients, revokedFamilies, send, ledger } = deps
  await fleet.killAll()
  const { records, broken } = await store.examine()
  ledger.check('records whole', broken.length === 0, () => broken.slice(0, 5).join('\n'))
  for (const port of fleet.ports) fleet.start(port)
  await Promise.all(fleet.ports.map(fleet.ready))
  const refresh = createRefresh({ send, ledger })
  await inParallel(clients, (client) => assertTokensWork(client, refresh, ledger))
  await inParallel(revokedFamilies, (revokedFamily) => inspect(revokedFamily, { send, ledger }))
  await fleet.killAll()
  const events = eventsIn(fleet.logs)
  const { record_rejected: rejected = 0 } = events
  ledger.check('records whole', rejected === 0, () => `servers met ${rejected} records that they could not read`)
  return { records, events }
}
