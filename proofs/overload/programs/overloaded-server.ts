import { serve } from '@grantry/adapters/node'
import { type ClientOptions, webRuntime } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { hashPassword, parsePasswordHash } from '@grantry/users/password-hash'
import { configuredUsers } from '../../../packages/server/src/users/configured-users.ts'
import { clients, fixture } from '../../../test/support/fixture.ts'
import { endWithParent } from '../../../test/support/programs/end-with-parent.ts'
import type { Memory, OverloadKind, ServerOrder, ServerReport } from '../kinds.ts'
import { narrowStore } from '../narrow-store.ts'

/** Milliseconds between two memory reports. */
const often = 200

const report = (message: ServerReport): void => {
  process.send?.(message)
}
const memory = (): Memory => {
  const { rss, heapUsed } = process.memoryUsage()
  return { rss, heap: heapUsed }
}

async function passwordUsers() {
  const password = parsePasswordHash(await hashPassword('alice-password'))
  if (password === undefined) throw new TypeError('our own hash cannot be read')
  return configuredUsers([{ sub: '1', username: 'alice', password, active: true, claims: {} }])
}

endWithParent()
const kind = process.argv[2] as OverloadKind
const { provider, events } = await fixture({
  // Tokens live for a second, so the size of the store does not depend on the duration of the test.
  clients: clients.map((client): ClientOptions => ({ ...client, accessTokenLifetime: 1 })),
  runtime: { now: webRuntime.now },
  storage: kind === 'slow-store' ? narrowStore(memoryDriver(), { connections: 8, latency: 10 }) : memoryDriver(),
  ...(kind === 'password' && { users: await passwordUsers() }),
  observe: () => {
    // The fixture keeps all events, which would look like a leak.
    events.length = 0
  },
})
const server = await serve(provider)
process.on('message', (order: ServerOrder) => {
  if (order !== 'collect') return
  globalThis.gc?.()
  report({ type: 'collected', memory: memory() })
})
setInterval(() => report({ type: 'memory', memory: memory() }), often)
report({ type: 'listening', port: server.port })
