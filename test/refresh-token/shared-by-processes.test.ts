// Processes of one client share a refresh token in a file, without a lock: each uses what it finds there, or what it has
// read before. None of them is signed out, and every token has one successor.
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { describe, expect, test } from 'vitest'
import { type Fixture, fixture, clients as shared, web } from '../support/fixture.ts'
import { type CommitPath, commitPaths, withLatency } from '../support/latency.ts'
import { formats, issueTokens, judged, live, refresh } from '../support/revocation.ts'
import { rounds } from '../support/rounds.ts'

const clients = shared.map((client) => ({ ...client, accessTokenLifetime: 60, refreshToken: { gracePeriod: 1800 } }))

/** Two providers on one slow store. */
async function providers({ prepare }: CommitPath) {
  const driver = memoryDriver()
  const storage = withLatency(prepare(driver))
  const f = await fixture({ storage, clients })
  const otherProcess = await fixture({ storage, clients, runtime: { now: f.clock.now } })
  const count = async () => (await driver.getKeys('', {})).filter((key) => key.startsWith('refresh:')).length
  return { f, all: [f, otherProcess] as const, count }
}

describe.concurrent.each(commitPaths)('processes that share a token in a file, committed $path', (path) => {
  test.each(formats)(
    '3.106 are never signed out, and every token has one successor, %s',
    async (_, as) => {
      const { f, all, count } = await providers(path)
      for (const _round of rounds(5)) {
        const { refresh_token: first } = await issueTokens(f, as)
        const before = await count()
        const file = { token: first }
        const successors = new Map<string, Set<string>>()
        const responses: Awaited<ReturnType<typeof refresh>>[] = []

        async function work(name: number): Promise<void> {
          let latest = first
          for (let step = 0; step < 15; step += 1) {
            const presented = (name + step) % 3 === 0 ? latest : file.token
            const response = await refresh(all[(name + step) % 2] as Fixture, presented, as)
            responses.push(response)
            latest = response.body.refresh_token
            file.token = latest
            successors.set(presented, (successors.get(presented) ?? new Set()).add(latest))
            f.clock.advance(Math.floor(Math.random() * 20))
          }
        }
        await Promise.all([0, 1, 2, 3].map(work))

        expect(responses.filter(({ status }) => status !== 200).map(({ body }) => body)).toEqual([])
        expect([...successors.values()].filter(({ size }) => size !== 1)).toEqual([])
        // One chain: as many tokens were stored as were spent.
        expect(await count()).toBe(before + successors.size)
        const tip = [...successors.values()].flatMap((each) => [...each]).filter((token) => !successors.has(token))
        expect(tip).toHaveLength(1)
        const last = await refresh(f, tip[0] ?? '', as)
        expect(await judged(f, last.body.access_token)).toEqual(live)
      }
    },
    120_000,
  )
})

test('3.106 of 50 concurrent requests, half of them with other scopes, all get the same successor', async () => {
  for (const path of commitPaths) {
    const { f, all, count } = await providers(path)
    const { refresh_token: token } = await issueTokens(f, web)
    const before = await count()
    const responses = await Promise.all(
      Array.from({ length: 50 }, (_, index) => {
        const form = { grant_type: 'refresh_token', refresh_token: token, ...(index % 2 === 0 && { scope: 'api1' }) }
        return (all[index % 3 === 0 ? 0 : 1] as Fixture).post('token', form, web)
      }),
    )
    expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200))
    expect(new Set(responses.map(({ body }) => body.refresh_token)).size).toBe(1)
    expect(await count()).toBe(before + 1)
    for (const { body } of responses.slice(0, 6))
      expect(await judged(f, body.access_token)).toMatchObject({ introspection: true })
  }
})
