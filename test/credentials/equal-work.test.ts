import { createHash } from 'node:crypto'
import { type ClientOptions, type ProviderOptions, type Runtime, webRuntime } from '@grantry/core'
import { sha256Of } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { api1, clients, fixture, scopes, web } from '../support/fixture.ts'

const grant = { grant_type: 'client_credentials', scope: 'api1' }

const sha512Of = (secret: string): string => createHash('sha512').update(secret).digest('base64')

const client = (clientId: string, secrets: ClientOptions['secrets'], more: Partial<ClientOptions> = {}) => ({
  ...clients[0],
  clientId,
  secrets,
  ...more,
})

/** A provider that records every hash that it computes. */
async function counting(options: Partial<ProviderOptions> = {}) {
  const work: string[] = []
  const runtime: Partial<Runtime> = {
    sha256Hex(text) {
      work.push(`sha256 of ${text.length}`)
      return webRuntime.sha256Hex(text)
    },
    sha512(data) {
      work.push(`sha512 of ${data.length}`)
      return webRuntime.sha512(data)
    },
  }
  const disabled = { ...clients[0], clientId: 'disabled', enabled: false }
  const f = await fixture({ clients: [...clients, disabled], ...options, runtime })
  return async (clientId: string, secret: string, where: 'header' | 'form' | 'scope'): Promise<readonly string[]> => {
    work.length = 0
    const { status } =
      where === 'scope'
        ? await f.post('introspection', { token: 'x' }, [clientId, secret])
        : where === 'header'
          ? await f.post('token', grant, [clientId, secret])
          : await f.post('token', { ...grant, client_id: clientId, client_secret: secret })
    expect(status).toBe(401)
    // The fingerprint for the event, of any id.
    expect(work.pop()).toBe(`sha256 of ${clientId.length}`)
    return [...work]
  }
}

// Attack: the response time reveals whether a client exists.
describe('the work of a failed authentication', () => {
  test.each(['header', 'form'] as const)(
    '2.10 an unknown client costs as much as a wrong secret, in the %s',
    async (where) => {
      const workOf = await counting()
      const wrong = await workOf(web[0], 'wrong-secret', where)
      expect(wrong).toEqual(['sha256 of 12'])
      expect(await workOf('absent', 'wrong-secret', where)).toEqual(wrong)
      expect(await workOf('disabled', 'wrong-secret', where)).toEqual(wrong)
      expect(await workOf('disabled', web[1], where)).toEqual([`sha256 of ${web[1].length}`])
      expect(await workOf('spa', 'wrong-secret', where)).toEqual(wrong)
    },
  )

  const [sha256, sha512] = [sha256Of('right-secret'), sha512Of('right-secret')]
  const one512 = ['sha512 of 12']
  const both = ['sha256 of 12', 'sha512 of 12']

  test('2.10 if all secrets are SHA-512, an unknown client costs one SHA-512', async () => {
    const workOf = await counting({
      clients: [client('web', [{ sha512 }]), client('spa', [], { public: true, grantTypes: ['authorization_code'] })],
    })
    for (const id of ['web', 'spa', 'absent']) expect(await workOf(id, 'wrong-secret', 'header')).toEqual(one512)
  })

  test('2.10 with secrets of both algorithms, every client costs one hash of each', async () => {
    const mixed = [
      client('old', [{ sha256 }]),
      client('new', [{ sha512 }]),
      client('changing', [{ sha256 }, { sha256 }, { sha512 }]),
      client('expired', [{ sha512, expiresAt: 1_700_000_000 }]),
      client('disabled', [{ sha256 }], { enabled: false }),
    ]
    const workOf = await counting({ clients: mixed })
    for (const { clientId } of [...mixed, { clientId: 'absent' }]) {
      expect(await workOf(clientId, 'wrong-secret', 'header')).toEqual(both)
    }
    expect(await workOf('expired', 'right-secret', 'header')).toEqual(both)
  })

  test.each([1, 2, 30])('2.10 a client with %i secrets costs one hash', async (count) => {
    const secrets = Array.from({ length: count }, (_, index) => ({ sha256: sha256Of(`secret ${index}`) }))
    const workOf = await counting({ clients: [client('web', secrets)] })
    expect(await workOf('web', 'wrong-secret', 'form')).toEqual(['sha256 of 12'])
    expect(await workOf('absent', 'wrong-secret', 'form')).toEqual(['sha256 of 12'])
  })

  test('2.10 with a client store, an unknown client costs as much as the clients that it has returned', async () => {
    const rows = [client('old', [{ sha256 }]), client('new', [{ sha512 }])]
    const find = (id: string) => rows.find(({ clientId }) => clientId === id)
    const workOf = await counting({ clients: { find } })
    expect(await workOf('absent', 'wrong-secret', 'header')).toEqual(one512)
    expect(await workOf('new', 'wrong-secret', 'header')).toEqual(one512)
    expect(await workOf('absent', 'wrong-secret', 'header')).toEqual(one512)
    for (const id of ['old', 'absent', 'new']) {
      expect([...(await workOf(id, 'wrong-secret', 'header'))].sort()).toEqual(both)
    }
  })

  test('2.10 an unknown scope costs as much as a wrong secret of a scope, whatever the clients have', async () => {
    const workOf = await counting({
      scopes: [{ ...scopes[0], name: api1[0], secrets: [{ sha512 }] }, { name: 'api2' }],
    })
    for (const name of [api1[0], 'api2', 'openid', 'absent']) {
      expect(await workOf(name, 'wrong-secret', 'scope')).toEqual(one512)
    }
  })

  test('2.10 the second attempt for a pair with % costs the same for both', async () => {
    const workOf = await counting()
    const wrong = await workOf(web[0], 'wrong%20secret', 'header')
    expect(wrong).toEqual(['sha256 of 14', 'sha256 of 12'])
    expect(await workOf('absent', 'wrong%20secret', 'header')).toEqual(wrong)
  })

  test('2.10 a verifier of the host is also called for unknown clients', async () => {
    const asked: string[] = []
    const f = await fixture({
      clients: {
        find: (clientId) => clients.find((client) => client.clientId === clientId),
        verifySecret(clientId) {
          asked.push(clientId)
          return false
        },
      },
    })
    expect((await f.post('token', grant, [web[0], 'x'])).status).toBe(401)
    expect((await f.post('token', grant, ['absent', 'x'])).status).toBe(401)
    expect(asked).toEqual([web[0], 'absent'])
  })
})

describe('the comparison', () => {
  // Attack: the duration of a comparison reveals how much of a hash is right.
  test('2.16 compares every digit, wherever the difference is', async () => {
    const stored = webRuntime.sha256Hex('right')
    const reads: number[] = []
    /** Returns the stored hash of a numeric secret with one digit wrong, and counts the digits that are read. */
    const sha256Hex = (text: string): string => {
      if (!/^\d+$/u.test(text)) return webRuntime.sha256Hex(text)
      const at = Number(text)
      const charCodeAt = (index: number): number => {
        reads.push(index)
        return stored.charCodeAt(index) ^ Number(index === at)
      }
      return { length: stored.length, charCodeAt } as unknown as string
    }
    const secrets = [{ sha256: sha256Of('right') }]
    const f = await fixture({ runtime: { sha256Hex }, clients: [{ ...clients[0], clientId: 'web', secrets }] })
    for (const at of [0, 31, 63]) {
      reads.length = 0
      expect((await f.post('token', grant, ['web', String(at)])).status).toBe(401)
      expect(new Set(reads).size).toBe(64)
    }
    expect((await f.post('token', grant, ['web', 'right'])).status).toBe(200)
  })
})
