// A server like the real one with a driver that has one fault. The harness must detect it.
import { parseArgs } from 'node:util'
import { serve } from '@grantry/adapters/node'
import { type AtomicDriver, createProvider } from '@grantry/core'
import { loadConfiguration } from '../../../packages/server/src/configuration/load.ts'
import { configuredStorage } from '../../../packages/server/src/configuration/storage/storage-drivers.ts'
import { providerOptions } from '../../../packages/server/src/provider-options/provider-options.ts'
import { pause } from '../../../test/support/pause.ts'
import { endWithParent } from '../../../test/support/programs/end-with-parent.ts'
import type { Fault } from '../faults.ts'

/** Milliseconds between a read and the write that relies on it. */
const gap = 20

const faults: Readonly<Record<Fault, (driver: AtomicDriver) => AtomicDriver>> = {
  // The marker is in the memory of the process that spent the token.
  'forgets what is spent': (driver) => {
    const items = new Map<string, string>()
    return {
      ...driver,
      getItem: (key) => (key.startsWith('spent:') ? (items.get(key) ?? null) : driver.getItem(key)),
      insertItem(key, value, options) {
        if (!key.startsWith('spent:')) return driver.insertItem(key, value, options)
        if (items.has(key)) return false
        items.set(key, value)
        return true
      },
    }
  },
  'inserts in two steps': (driver) => ({
    ...driver,
    async insertItem(key, value, options) {
      if (key.startsWith('probe:')) return driver.insertItem(key, value, options)
      if ((await driver.getItem(key)) !== null) return false
      await pause(gap)
      await driver.setItem(key, value, options)
      return true
    },
  }),
  'loses revocations': (driver) => {
    const items = new Map<string, string>()
    const isMarker = (key: string): boolean => /^(?:revoked|denied):/u.test(key)
    return {
      ...driver,
      getItem: (key) => (isMarker(key) ? (items.get(key) ?? null) : driver.getItem(key)),
      setItem: (key, value, options) =>
        isMarker(key) ? void items.set(key, value) : driver.setItem(key, value, options),
    }
  },
  'answers before it has written': (driver) => ({
    ...driver,
    async setItem(key, value, options) {
      if (key.startsWith('probe:')) return driver.setItem(key, value, options)
      void pause(100).then(() => driver.setItem(key, value, options))
    },
  }),
  'cuts records': (driver) => ({
    ...driver,
    setItem: (key, value, options) =>
      driver.setItem(key, key.startsWith('replay:') ? value.slice(0, -9) : value, options),
  }),
}

endWithParent()
const { values } = parseArgs({
  args: process.argv.slice(3),
  options: { config: { type: 'string' }, port: { type: 'string' } },
})
const loaded = await loadConfiguration(values.config ?? '', {})
const { driver } = await configuredStorage(loaded.configuration.storage, loaded.directory)
const broken = faults[process.env.GRANTRY_FAULT as Fault](driver)
const observe = (event: object): void => void process.stderr.write(`${JSON.stringify(event)}\n`)
const provider = await createProvider(await providerOptions(loaded, broken, observe))
const ready = (): Response => Response.json({ status: 'ready' })
await serve(
  {
    issuer: provider.issuer,
    fetch: async (request, connection) =>
      new URL(request.url).pathname === '/health/ready' ? ready() : provider.fetch(request, connection),
  },
  { port: Number(values.port) },
)
