// `npm run prove:rotation -- [--rotations 40] [--processes 4] [--speed 100] [--store postgresql|sqlite]`: keys
// rotate under load in several processes on one Redis or PostgreSQL. Prints the results, and exits with 1 when a token was rejected or a trigger did not cause
// exactly one rotation.
import { parseArgs } from 'node:util'
import { startNetworkStore } from '../../test/support/network-stores.ts'
import { runRotations } from './rotation-run.ts'
import { startService } from './service.ts'

const { values } = parseArgs({
  options: {
    rotations: { type: 'string', default: '40' },
    processes: { type: 'string', default: '4' },
    speed: { type: 'string', default: '100' },
    store: { type: 'string', default: 'redis' },
  },
})
const speed = Number(values.speed)
const base = Date.now()
const { stop, ...store } = await startNetworkStore(values.store)
const servers = await startService({ store, base, speed }, Number(values.processes))
try {
  const secondsNow = () => (base + (Date.now() - base) * speed) / 1000
  const { faults, ...figures } = await runRotations(servers, {
    rotations: Number(values.rotations),
    perBatch: 10,
    secondsNow,
  })
  const seconds = (Date.now() - base) / 1000
  const all = Object.entries({
    processes: servers.length,
    ...figures,
    refused: faults.length,
    seconds: Math.round(seconds),
  })
  process.stdout.write(`${all.map(([name, value]) => `${name} ${value}`).join(', ')}\n`)
  for (const fault of faults.slice(0, 20)) process.stdout.write(`  broken: ${fault}\n`)
  process.exitCode = faults.length === 0 ? 0 : 1
} finally {
  await Promise.all(servers.map((server) => server.stop()))
  await stop()
}
