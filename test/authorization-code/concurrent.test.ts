// Attack: a stolen code is redeemed in the same instant as by its client, at several processes that share a slow store.
// On providers that read first and delete afterwards, all of the requests succeed.
import { type RunningServer, serve } from '@grantry/adapters/node'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { basic, type Credentials } from '@grantry/testing'
import { afterAll, describe, expect, test } from 'vitest'
import { api1, fixture, proof, redirectUri, spaClientId, web, webJwt } from '../support/fixture.ts'
import { type CommitPath, commitPaths, withLatency } from '../support/latency.ts'
import { rounds } from '../support/rounds.ts'

const racers = 50
const running: RunningServer[] = []
afterAll(async () => {
  await Promise.all(running.splice(0).map((server) => server.close(0)))
})

/** Two providers that share only the store, as two processes would, behind real sockets. */
async function served({ prepare }: CommitPath) {
  const driver = memoryDriver()
  const storage = withLatency(prepare(driver))
  const f = await fixture({ storage })
  const second = await fixture({ storage, runtime: { now: f.clock.now } })
  const servers = await Promise.all([serve(f.provider), serve(second.provider)])
  running.push(...servers)
  let next = 0
  async function post(path: string, form: Record<string, string>, as?: Credentials) {
    next += 1
    const port = servers[next % servers.length]?.port
    const headers = as === undefined ? {} : { authorization: basic(as) }
    const body = new URLSearchParams(form)
    const response = await fetch(`http://127.0.0.1:${port}/connect/${path}`, { method: 'POST', headers, body })
    return { status: response.status, body: await response.json() }
  }
  const count = async (kind: string) =>
    (await driver.getKeys('', {})).filter((key) => key.startsWith(`${kind}:`)).length
  return { f, post, count }
}

const redeem = { grant_type: 'authorization_code', redirect_uri: redirectUri }

describe.concurrent.each(commitPaths)(`${racers} concurrent redemptions of one code, committed $path`, (path) => {
  test.each(rounds())('3.32 exactly one of 50 succeeds, the others are invalid_grant: round %i', async () => {
    const { f, post, count } = await served(path)
    const code = await f.code()
    const responses = await Promise.all(Array.from({ length: racers }, () => post('token', { ...redeem, code }, web)))
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1)
    const refused = responses.filter(({ status }) => status === 400)
    expect(refused).toHaveLength(racers - 1)
    for (const { body } of refused) {
      expect(body).toEqual({ error: 'invalid_grant', error_description: expect.any(String) })
    }
    // The losers store nothing.
    expect([await count('access'), await count('refresh'), await count('spent')]).toEqual([1, 1, 1])
  })

  test.each([
    ['reference tokens', web],
    ['JWTs', webJwt],
  ] as const)('3.33 the replays among them revoke the tokens of the winner: %s', async (_, client) => {
    const { f, post } = await served(path)
    const code = await f.code({ clientId: client[0] })
    const responses = await Promise.all(
      Array.from({ length: racers }, () => post('token', { ...redeem, code }, client)),
    )
    const winner = responses.find(({ status }) => status === 200)?.body
    expect(winner.access_token).toEqual(expect.any(String))
    expect((await post('introspect', { token: winner.access_token }, api1)).body).toEqual({ active: false })
    const refresh = { grant_type: 'refresh_token', refresh_token: winner.refresh_token }
    const refreshed = await post('token', refresh, client)
    expect(refreshed.status).toBe(400)
    expect(refreshed.body.error).toBe('invalid_grant')
  })

  test('3.32 exactly one of 50 public clients with the right verifier succeeds', async () => {
    const { f, post } = await served(path)
    const code = await f.code({ clientId: spaClientId, codeChallenge: proof.challenge })
    const form = { ...redeem, code, client_id: spaClientId, code_verifier: proof.verifier }
    const responses = await Promise.all(Array.from({ length: racers }, () => post('token', form)))
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(responses.filter(({ body }) => body.error === 'invalid_grant')).toHaveLength(racers - 1)
  })

  test('3.32 different codes do not interfere with each other', async () => {
    const { f, post } = await served(path)
    const codes = await Promise.all(Array.from({ length: racers }, () => f.code()))
    const responses = await Promise.all(codes.map((code) => post('token', { ...redeem, code }, web)))
    expect(responses.map(({ status }) => status)).toEqual(codes.map(() => 200))
    expect(new Set(responses.map(({ body }) => body.access_token)).size).toBe(racers)
    for (const { body } of responses.slice(0, 5)) {
      expect((await post('introspect', { token: body.access_token }, api1)).body.active).toBe(true)
    }
  })
})
