// `npm run prove:sign-in -- [--sign-ins 1000] [--processes 4] [--store postgresql|sqlite] [--upstream]`: users sign in at several
// processes on one Redis or PostgreSQL, one of which is killed. Prints the results, and exits with 1 if a sign-in failed or a code was redeemed twice.
import { parseArgs } from 'node:util'
import { startNetworkStore } from '../../test/support/network-stores.ts'
import { startDoubleServer } from '../../test/upstream/double-server.ts'
import { runSignIns } from './sign-in-run.ts'

const { values } = parseArgs({
  options: {
    'sign-ins': { type: 'string', default: '1000' },
    processes: { type: 'string', default: '4' },
    store: { type: 'string', default: 'redis' },
    /** Whether the users sign in at another provider. */
    upstream: { type: 'boolean', default: false },
  },
})
const upstream = values.upstream ? await startDoubleServer() : undefined
const { stop, ...store } = await startNetworkStore(values.store)
try {
  const { problems, ...figures } = await runSignIns(
    store,
    Number(values['sign-ins']),
    Number(values.processes),
    upstream?.issuer,
  )
  const all = Object.entries({ ...figures, failed: problems.length }).map(([name, value]) => `${name} ${value}`)
  process.stdout.write(`${all.join(', ')}\n`)
  for (const problem of problems.slice(0, 20)) process.stdout.write(`  failed: ${problem}\n`)
  process.exitCode = problems.length === 0 && figures.redeemedTwice === 0 ? 0 : 1
} finally {
  await upstream?.close()
  await stop()
}
