// Attack and accident look alike: one refresh token arrives many times concurrently, from an attacker, or from a client
// whose tabs all refresh together.
import { type RunningServer, serve } from '@grantry/adapters/node'
import type { ClientOptions } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { basic, type Credentials, sha256Of } from '@grantry/testing'
import { afterAll, describe, expect, test } from 'vitest'
import { api1, clients, fixture, web } from '../support/fixture.ts'
import { type CommitPath, commitPaths, withLatency } from '../support/latency.ts'
import { rounds } from '../support/rounds.ts'
import { differentTokens } from '../support/same-tokens.ts'

const racers = 50
const reusing: Credentials = ['reusing', 'reusing-secret']
const reusingClient: ClientOptions = {
  clientId: reusing[0],
  secrets: [{ sha256: sha256Of(reusing[1]) }],
  grantTypes: ['password', 'refresh_token'],
  scopes: ['openid', 'offline_access', 'api1'],
  accessTokenFormat: 'reference',
  refreshToken: { usage: 'reuse' },
}

const running: RunningServer[] = []
afterAll(async () => {
  await Promise.all(running.splice(0).map((server) => server.close(0)))
})

/** Two providers that share only the store, as two processes would, behind real sockets. */
async function served({ prepare }: CommitPath, client = web) {
  const driver = memoryDriver()
  const storage = withLatency(prepare(driver))
  const f = await fixture({ storage, clients: [...clients, reusingClient] })
  const second = await fixture({ storage, clients: [...clients, reusingClient], runtime: { now: f.clock.now } })
  const servers = await Promise.all([serve(f.provider), serve(second.provider)])
  running.push(...servers)
  let next = 0
  async function post(path: string, form: Record<string, string>, as: Credentials) {
    next += 1
    const port = servers[next % servers.length]?.port
    const headers = { authorization: basic(as) }
    const body = new URLSearchParams(form)
    const response = await fetch(`http://127.0.0.1:${port}/connect/${path}`, { method: 'POST', headers, body })
    return { status: response.status, body: await response.json() }
  }
  const refresh = (token: string, more: Record<string, string> = {}) =>
    post('token', { grant_type: 'refresh_token', refresh_token: token, ...more }, client)
  const alice = { grant_type: 'password', username: 'alice', password: 'alice-password' }
  const { body: first } = await post('token', { ...alice, scope: 'openid offline_access api1' }, client)
  return {
    f,
    first,
    refresh,
    refreshConcurrently: (token: string, more: Record<string, string> = {}) =>
      Promise.all(Array.from({ length: racers }, () => refresh(token, more))),
    isActive: async (token: string): Promise<boolean> => (await post('introspect', { token }, api1)).body.active,
    count: async (kind: string) => (await driver.getKeys('', {})).filter((key) => key.startsWith(`${kind}:`)).length,
  }
}

describe.concurrent.each(commitPaths)(`${racers} concurrent refreshes with one token, committed $path`, (path) => {
  test.each(rounds())('3.40 inside the window all 50 get the same tokens: round %i', async () => {
    const { first, refreshConcurrently, isActive, count, refresh } = await served(path)
    const responses = await refreshConcurrently(first.refresh_token)
    expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200))
    expect(differentTokens(responses)).toHaveLength(1)
    // One successor, whatever the losers had prepared.
    expect([await count('refresh'), await count('access'), await count('replay')]).toEqual([2, 2, 1])
    const [winner] = responses
    expect(await isActive(winner?.body.access_token)).toBe(true)
    expect((await refresh(winner?.body.refresh_token)).status).toBe(200)
  })

  test.each(rounds())(
    '3.39 past the window none of 50 succeeds, and the successor is revoked too: round %i',
    async () => {
      const { f, first, refreshConcurrently, refresh, isActive } = await served(path)
      const [successor] = await refreshConcurrently(first.refresh_token)
      expect(await isActive(successor?.body.access_token)).toBe(true)
      f.clock.advance(10)
      const responses = await refreshConcurrently(first.refresh_token)
      expect(responses.map(({ status, body }) => `${status} ${body.error}`)).toEqual(
        responses.map(() => '400 invalid_grant'),
      )
      expect((await refresh(successor?.body.refresh_token)).body.error).toBe('invalid_grant')
      expect(await isActive(successor?.body.access_token)).toBe(false)
    },
  )

  test.each([1, 2, 3])(
    '3.40 of two different concurrent requests, one wins, and at most one successor stays valid: round %i',
    async () => {
      const { first, refresh, isActive } = await served(path)
      const responses = await Promise.all([
        refresh(first.refresh_token, { scope: 'api1' }),
        refresh(first.refresh_token, { scope: 'openid api1' }),
      ])
      expect(responses.map(({ status }) => status).sort()).toEqual([200, 400])
      const winner = responses.find(({ status }) => status === 200)?.body
      expect(responses.find(({ status }) => status === 400)?.body.error).toBe('invalid_grant')
      // Two parties send different requests with one token: one of them is an attacker, and the family is revoked.
      expect(await isActive(winner.access_token)).toBe(false)
      expect((await refresh(winner.refresh_token)).body.error).toBe('invalid_grant')
    },
  )

  test.each(rounds())(
    '3.40 of two different requests, 25 times each, all that succeed have the same tokens: round %i',
    async () => {
      const { first, refresh, isActive, count } = await served(path)
      const responses = await Promise.all(
        Array.from({ length: racers }, (_, index) =>
          refresh(first.refresh_token, { scope: index % 2 === 0 ? 'api1' : 'openid api1' }),
        ),
      )
      const successes = responses.filter(({ status }) => status === 200)
      expect(successes.length).toBeGreaterThanOrEqual(1)
      expect(differentTokens(successes)).toHaveLength(1)
      expect(responses.filter(({ body }) => body.error === 'invalid_grant')).toHaveLength(racers - successes.length)
      expect(await count('refresh')).toBe(2)
      expect(await isActive(successes[0]?.body.access_token)).toBe(false)
    },
  )

  test('3.39 a successor that is issued in the instant of the revocation is revoked from the start', async () => {
    const { f, first, refresh, isActive } = await served(path)
    const second = (await refresh(first.refresh_token)).body
    f.clock.advance(10)
    const responses = await Promise.all(
      Array.from({ length: racers }, (_, index) =>
        refresh(index % 2 === 0 ? second.refresh_token : first.refresh_token),
      ),
    )
    expect(responses.filter((_, index) => index % 2 === 1).map(({ status }) => status)).not.toContain(200)
    for (const { body } of responses.filter(({ status }) => status === 200)) {
      expect(await isActive(body.access_token)).toBe(false)
      expect((await refresh(body.refresh_token)).body.error).toBe('invalid_grant')
    }
    expect((await refresh(second.refresh_token)).body.error).toBe('invalid_grant')
  })

  test('3.41 a client that reuses its token gets 50 access tokens and keeps the one refresh token', async () => {
    const { first, refreshConcurrently, count, isActive } = await served(path, reusing)
    const responses = await refreshConcurrently(first.refresh_token)
    expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200))
    expect(new Set(responses.map(({ body }) => body.refresh_token))).toEqual(new Set([first.refresh_token]))
    expect(new Set(responses.map(({ body }) => body.access_token)).size).toBe(racers)
    expect(await count('refresh')).toBe(1)
    expect(await isActive(responses[0]?.body.access_token)).toBe(true)
  })
})
