// Reads a configuration a thousand times, and prints what is open before and after it.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadConfiguration } from '../../../packages/server/src/configuration/load.ts'
import { rereadConfiguration } from '../../../packages/server/src/reload/reread-configuration.ts'
import { startServer } from '../patient-server.ts'

const [, , directory = '.'] = process.argv
const file = join(directory, 'grantry.config.json')
const write = (index: number): void =>
  writeFileSync(
    file,
    JSON.stringify({
      issuer: 'https://id.example.com',
      storage: { driver: 'sqlite', file: 'grantry.db' },
      administration: true,
      clients: [{ clientId: `client-${index}`, public: true, grantTypes: [] }],
      // Every tenth is refused when it is opened.
      ...(index % 10 === 9 && { keys: { jwks: 'missing.json' } }),
    }),
  )

write(0)
const server = await startServer({
  loaded: await loadConfiguration(file, {}),
  port: 0,
  observe: () => {},
  read: () => rereadConfiguration(file, {}),
})

function counted() {
  const handles: Record<string, number> = {}
  // An immediate ends with this turn of the event loop: tasks of the server can have one at any time.
  for (const name of process.getActiveResourcesInfo().filter((each) => each !== 'Immediate'))
    handles[name] = (handles[name] ?? 0) + 1
  for (let round = 0; round < 3; round += 1) globalThis.gc?.()
  return { handles, heap: process.memoryUsage().heapUsed }
}

async function reloads(count: number): Promise<void> {
  for (let index = 1; index <= count; index += 1) {
    write(index)
    const { reloaded } = await server.reload()
    if (reloaded !== (index % 10 !== 9)) throw new Error(`reload ${index}: ${reloaded}`)
  }
  // Replaced providers close after their last request.
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

// What is loaded on demand is loaded by the first ones.
await reloads(20)
const before = counted()
await reloads(400)
process.stdout.write(JSON.stringify([before, counted()]))
await server.close(0)
