// `npm run prove:races -- [--racers 200] [--rounds 200] [--stores memory,filesystem,sqlite,redis,postgresql,cluster] [--kinds 'code']`: one
// credential, many racers, several processes, latency on every operation of the storage. Prints the results; exits with
// 1 when a guarantee was broken.
import { parseArgs } from 'node:util'
import { exportJWK, generateKeyPair } from 'jose'
import { startContenders } from './contenders.ts'
import { type PlaceName, places } from './places.ts'
import { faultsOf, type RaceKind, raceKinds, runRounds } from './race.ts'

const { values } = parseArgs({
  options: {
    racers: { type: 'string', default: '200' },
    rounds: { type: 'string', default: '200' },
    concurrency: { type: 'string', default: '8' },
    kinds: { type: 'string', default: raceKinds.join(',') },
    stores: { type: 'string', default: Object.keys(places).join(',') },
  },
})
/** Returns the names in an option, separated by commas. */
function chosen<N extends string>(option: string, value: string, known: readonly N[]): readonly N[] {
  return value.split(',').map((name) => {
    const kind = known.find((knownName) => knownName === name)
    if (kind !== undefined) return kind
    throw new TypeError(`--${option}: there is no "${name}"; use ${known.join(', ')}`)
  })
}

const stores = chosen('stores', values.stores, Object.keys(places) as PlaceName[])
const chosenKinds = chosen('kinds', values.kinds, raceKinds)
const [racers, rounds, concurrency] = [Number(values.racers), Number(values.rounds), Number(values.concurrency)]

const print = (...cells: readonly (string | number)[]): void => {
  const widths = [12, 27, 10, 8, 8, 14, 10, 10, 12]
  process.stdout.write(`${cells.map((cell, index) => String(cell).padEnd(widths[index] ?? 0)).join(' ')}\n`)
}

const { privateKey } = await generateKeyPair('ES256', { extractable: true })
const keys = [await exportJWK(privateKey)]
let broken = 0

async function prove(name: PlaceName, kind: RaceKind, contenders: Awaited<ReturnType<typeof startContenders>>) {
  const before = performance.now()
  const results = await runRounds(contenders, kind, { racers, rounds, concurrency })
  const perRound = (performance.now() - before) / rounds
  const granted = results.map((round) => round.granted)
  const refused = results.flatMap((round) => Object.values(round.refused)).reduce((sum, count) => sum + count, 0)
  const distinct = Math.max(...results.map((round) => round.distinct))
  const spread = `${Math.min(...granted)}..${Math.max(...granted)}`
  const faults = results.flatMap((round) => faultsOf(kind, racers, round))
  print(
    name,
    kind,
    contenders.count,
    racers,
    rounds,
    spread,
    distinct,
    refused,
    `${perRound.toFixed(0)} ms`,
    faults.length,
  )
  for (const fault of new Set(faults)) process.stdout.write(`  broken: ${fault}\n`)
  broken += faults.length
}

print('storage', 'one', 'processes', 'racers', 'rounds', 'successes', 'distinct', 'refused', 'per round', 'broken')
for (const name of stores) {
  const { processes, open } = places[name]
  const { place, close } = await open()
  const contenders = await startContenders(place, keys, processes)
  try {
    for (const kind of chosenKinds) await prove(name, kind, contenders)
  } finally {
    await contenders.stop()
    await close()
  }
}
process.exitCode = broken === 0 ? 0 : 1
