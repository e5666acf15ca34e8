/**
 * Attack: as in client-changed-a-moment-ago.test.ts, at a client store of the host: it was read before the secret was compared, and
 * the client was changed and revoked meanwhile.
 */
import { type Client, type ClientOptions, hashSecret } from '@grantry/core'
import { describe, expect, test } from 'vitest'
import { createIsUnchanged } from '../../packages/core/src/tokens/revocation-mark.ts'
import { api1, clients, type Fixture, fixture, web } from '../support/fixture.ts'

const secret = 'leaked'
const client: ClientOptions = { ...clients[0], clientId: web[0], secrets: [hashSecret(secret)] }
const scope = 'openid offline_access api1'
const ofAlice = { grant_type: 'password', username: 'alice', password: 'alice-password', scope }

/** Whether what a response has, if it has anything, is still of use. */
async function gives(f: Fixture, body: Readonly<Record<string, unknown>>): Promise<boolean> {
  const { access_token: token } = body
  if (typeof token !== 'string') return false
  return (await f.post('introspection', { token }, api1)).body.active === true
}

describe('a client of a store of the host', () => {
  const options = client

  /** A store that returns a new object each time, and in which something happens after a client was read. */
  async function hosted() {
    let present: ClientOptions = options
    let reads = 0
    let afterwards: (() => Promise<unknown>) | undefined
    const f: Fixture = await fixture({
      clients: {
        async find(clientId) {
          reads += 1
          const copy = clientId === web[0] ? { ...present } : undefined
          const act = afterwards
          afterwards = undefined
          await act?.()
          return copy
        },
      },
    })
    return {
      f,
      readsOf: async (act: () => Promise<unknown>) => {
        reads = 0
        await act()
        return reads
      },
      changeAfterRead(change: Partial<ClientOptions>) {
        afterwards = async () => {
          present = { ...present, ...change }
          await f.provider.revoke({ clientId: web[0] })
        }
      },
    }
  }

  const ask = (f: Fixture) => f.post('token', ofAlice, [web[0], secret])

  test('is read again when it was revoked after it was read', async () => {
    const { f, changeAfterRead } = await hosted()
    expect((await ask(f)).status).toBe(200)
    changeAfterRead({ secrets: [hashSecret('new')] })
    expect((await ask(f)).status).toBe(401)
    expect((await ask(f)).status).toBe(401)
  })

  test('gets what it got before if it is the same', async () => {
    const { f, changeAfterRead } = await hosted()
    changeAfterRead({})
    const { body } = await ask(f)
    expect(await gives(f, body)).toBe(true)
  })

  test('counts as changed until it is read again', async () => {
    const [stale, present] = [[1], [2]].map((secrets) => ({ secrets })) as unknown as [Client, Client]
    const secretsOf = () => ({ stored: [], malformed: 0 })
    const clients = { reread: () => present, secretsOf, hasUnlisted: true }
    const isUnchanged = createIsUnchanged({ clients, runtime: { now: () => 0 } })
    const state = { state: 'a', since: 0 }
    expect([stale, stale, present].map((version) => isUnchanged(version, state))).toEqual([false, false, true])
  })

  test('is read no more often than before, unless it was revoked in the last hour', async () => {
    const { f, readsOf } = await hosted()
    const usual = await readsOf(() => ask(f))
    await f.provider.revoke({ clientId: web[0] })
    expect(await readsOf(() => ask(f))).toBe(usual + 1)
    f.clock.advance(3602)
    expect(await readsOf(() => ask(f))).toBe(usual)
  })
})
