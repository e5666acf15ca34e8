// `npm run prove:upgrade -- --from <directory> [--rounds 30] [--stores redis,postgresql,sqlite]`: servers of another version and
// of this one serve at one store: single use, sign-ins, refreshes and rotations hold across both. The directory is a clone of the
// other version that was built, or one in which it was installed. Exits with 1 when something was broken.
import { parseArgs } from 'node:util'
import { startNetworkStore } from '../../test/support/network-stores.ts'
import { realServerProgram } from '../../test/support/server-program.ts'
import { programIn, runUpgrade, type Version } from './upgrade-run.ts'

const { values } = parseArgs({
  options: {
    from: { type: 'string' },
    rounds: { type: 'string', default: '30' },
    stores: { type: 'string', default: 'redis,postgresql' },
  },
})
if (values.from === undefined) throw new TypeError('--from: name the directory of the other version')
const [older, newer, rounds] = [programIn(values.from), await realServerProgram(), Number(values.rounds)]
process.exitCode = 0
for (const name of values.stores.split(',')) {
  const { stop, ...storage } = await startNetworkStore(name)
  try {
    const report = await runUpgrade(
      [older, newer].map((program) => ({ program, storage })) as [Version, Version],
      rounds,
    )
    for (const [check, faults] of Object.entries(report)) {
      process.stdout.write(`${name}: ${check}: ${rounds} rounds, ${faults.length} broken\n`)
      for (const fault of [...new Set(faults)].slice(0, 5)) process.stdout.write(`  broken: ${fault}\n`)
      if (faults.length > 0) process.exitCode = 1
    }
  } finally {
    await stop()
  }
}
