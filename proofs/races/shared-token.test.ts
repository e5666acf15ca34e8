// Programs that share one refresh token in a file, without a lock, against several processes of the provider on one store,
// with latency on every operation. Each uses what it finds in the file, or what it has read before: no program is signed
// out, and every token has one successor.
import { exportJWK, generateKeyPair } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeWithPostgresql } from '../../test/support/postgresql-describe.ts'
import { describeWithRedis } from '../../test/support/redis-describe.ts'
import { type Contenders, startContenders } from './contenders.ts'
import { type Answers, sharing } from './orders.ts'
import { type OpenPlace, type PlaceName, places } from './places.ts'

const programs = 6
const refreshes = 40

/** What the programs have seen: for each token that was presented, the tokens of the responses. */
async function share(contenders: Contenders, round: number) {
  const first = await contenders.order<string>(round, { what: 'prepare', credential: 'refresh', as: sharing })
  const successors = new Map<string, Set<string>>()
  const refused: unknown[] = []
  let file = first

  async function run(program: number): Promise<void> {
    let latest = first
    for (let count = 0; count < refreshes; count += 1) {
      const presented = (program + count) % 3 === 0 ? latest : file
      const form = { grant_type: 'refresh_token', refresh_token: presented }
      const { granted, refused: reasons } = await contenders.order<Answers>(program + count, {
        what: 'race',
        form,
        headers: {},
        as: sharing,
        // Now and then, a request is sent twice.
        racers: count % 5 === 0 ? 2 : 1,
      })
      if (granted.length === 0) refused.push(reasons)
      for (const text of granted) {
        latest = JSON.parse(text).refresh_token
        successors.set(presented, (successors.get(presented) ?? new Set()).add(latest))
      }
      file = latest
    }
  }
  await Promise.all(Array.from({ length: programs }, (_, program) => run(program)))
  return { successors, refused }
}

function shareOn(name: PlaceName): void {
  let opened: OpenPlace
  let contenders: Contenders
  beforeAll(async () => {
    const { privateKey } = await generateKeyPair('ES256', { extractable: true })
    opened = await places[name].open()
    contenders = await startContenders(opened.place, [await exportJWK(privateKey)], 2)
  })
  afterAll(async () => {
    await contenders?.stop()
    await opened?.close()
  })

  test(`3.106 ${programs} programs at two processes are never signed out, and every token has one successor`, async () => {
    for (const round of [1, 2]) {
      const { successors, refused } = await share(contenders, round)
      expect(refused).toEqual([])
      expect([...successors.values()].filter(({ size }) => size !== 1)).toEqual([])
      // One chain, with one end, which works.
      const ends = [...successors.values()].flatMap((each) => [...each]).filter((token) => !successors.has(token))
      expect(ends).toHaveLength(1)
      const next = await contenders.order(round, { what: 'refresh', token: ends[0] ?? '', as: sharing })
      expect(next).toBe(200)
    }
  })
}

describeWithRedis('redis', () => shareOn('redis'))
describeWithPostgresql('postgresql', () => shareOn('postgresql'))
describe('sqlite', () => shareOn('sqlite'))
