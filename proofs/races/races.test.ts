// Of many racers for one credential exactly one wins, on every storage, with whole providers in several processes and
// latency on every operation. `npm run prove:races` does the same with 200 racers, 200 times.
import { exportJWK, generateKeyPair } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeWithPostgresql } from '../../test/support/postgresql-describe.ts'
import { describeWithRedis } from '../../test/support/redis-describe.ts'
import { type Contenders, startContenders } from './contenders.ts'
import { type OpenPlace, type PlaceName, places } from './places.ts'
import { faultsOf, raceKinds, runRounds, spendingKinds } from './race.ts'

const racers = 60
const rounds = 4

async function newKeys(): Promise<unknown> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  return [await exportJWK(privateKey)]
}

function raceOn(name: PlaceName): void {
  const { open, ...place } = places[name]
  const processes = Math.min(place.processes, 2)
  let opened: OpenPlace
  let contenders: Contenders
  beforeAll(async () => {
    opened = await open()
    contenders = await startContenders(opened.place, await newKeys(), processes)
  })
  afterAll(async () => {
    await contenders?.stop()
    await opened?.close()
  })

  test.each(raceKinds)(`${racers} racers in ${processes} processes for one %s`, async (kind) => {
    const results = await runRounds(contenders, kind, { racers, rounds, concurrency: rounds })
    expect(results).toHaveLength(rounds)
    expect(results.flatMap((round) => faultsOf(kind, racers, round))).toEqual([])
  })
}

describe('memory', () => raceOn('memory'))
describe('filesystem', () => raceOn('filesystem'))
describe('sqlite', () => raceOn('sqlite'))
describeWithRedis('redis', () => raceOn('redis'))
describeWithPostgresql('postgresql', () => raceOn('postgresql'))
describeWithRedis('cluster', () => raceOn('cluster'))

test('detects a storage that reads first and writes later', async () => {
  const contenders = await startContenders({ kind: 'forgetful' }, await newKeys(), 1)
  try {
    for (const kind of spendingKinds) {
      const [round] = await runRounds(contenders, kind, { racers, rounds: 1, concurrency: 1 })
      expect(round?.distinct).toBeGreaterThan(1)
      expect(round && faultsOf(kind, racers, round)).toContainEqual(expect.stringMatching(/distinct answers$/u))
    }
  } finally {
    await contenders.stop()
  }
})
