// `npm run prove:brute-force -- [seconds] [processes] [redis|postgresql|sqlite]`: the run of brute-force.test.ts, longer.
import { startNetworkStore } from '../../test/support/network-stores.ts'
import { bruteForce, bruteForceReport, serverProgram } from './brute-force.ts'

const [, , seconds = '60', processes = '4', name = 'redis'] = process.argv
const { stop, ...store } = await startNetworkStore(name)
try {
  const program = await serverProgram()
  process.stdout.write(`${bruteForceReport(await bruteForce(program, store, Number(processes), Number(seconds)))}\n`)
} finally {
  await stop()
}
