// Several processes need the token of one user at the same moment. A provider ends all tokens of a user when a refresh
// token is used twice.
import { upstreamTokens } from '@grantry/plugins/upstream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { withLatency } from '../support/latency.ts'
import { describeWithRedis } from '../support/redis-describe.ts'
import { redisDrivers } from '../support/redis-drivers.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'
import { acmeOf, setUpUpstream } from '../upstream/parties.ts'
import { encryptionSecrets, setUpTokens } from '../upstream/token-parties.ts'

describeWithRedis('tokens of another provider in Redis', () => {
  const driverOf = redisDrivers()
  let server: RedisServer
  beforeAll(async () => {
    server = await startRedis()
  })
  afterAll(() => server?.stop())

  /** Two processes, with slow connections to one server. */
  async function processes(prefix: string) {
    const slow = () => withLatency(driverOf({ url: server.url, prefix }))
    const f = await setUpTokens({ more: { storage: slow() } })
    const { fetch } = f.double
    const options = { providers: [{ ...acmeOf(f.double), keepTokens: true }], encryptionSecrets, fetch }
    const otherProcess = await setUpUpstream({ options, more: { storage: slow() } })
    const all = [f, otherProcess] as const
    const find = (index: number) => all[index % 2]?.provider.use(upstreamTokens).find(f.sub, 'acme')
    const skip = () => {
      for (const each of all) each.skip(301)
    }
    return { f, find, skip }
  }

  test('18.18 are refreshed by one of them, and all get the result', async () => {
    const { f, find, skip } = await processes('single')
    for (let round = 1; round <= 5; round += 1) {
      skip()
      const tokens = await Promise.all(Array.from({ length: 10 }, (_, index) => find(index)))
      expect(new Set(tokens.map((access) => access?.accessToken)).size).toBe(1)
      expect(tokens[0]?.accessToken).toBe(`upstream-access-token-${2 + round}`)
    }
    expect(f.double.countOf('/token')).toBe(6)
    expect(f.events.filter(({ type }) => type === 'upstream_refresh_failed')).toEqual([])
  })

  test('18.19 stay removed if that happens during a refresh', async () => {
    for (let round = 0; round < 8; round += 1) {
      const { f, find, skip } = await processes(`removed-${round}`)
      skip()
      const refreshing = Promise.all([find(0), find(1)])
      // The removal meets the refresh at different steps.
      for (let step = 0; step < round; step += 1) await f.provider.use(upstreamTokens).find('another user', 'acme')
      await f.provider.use(upstreamTokens).remove(f.sub, 'acme')
      await refreshing
      expect(await find(0)).toBeUndefined()
    }
  })
})
