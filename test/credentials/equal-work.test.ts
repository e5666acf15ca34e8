import { type Runtime, webRuntime } from '@grantry/core'
import { sha256Of } from '@grantry/core/testing'
import { describe, expect, test } from 'vitest'
import { clients, fixture, web } from '../support/fixture.ts'

const grant = { grant_type: 'client_credentials', scope: 'api1' }

/** A provider that writes down every hash it makes. */
async function counting() {
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
  const f = await fixture({ runtime, clients: [...clients, disabled] })
  return async (clientId: string, secret: string, where: 'header' | 'form'): Promise<readonly string[]> => {
    work.length = 0
    const { status } =
      where === 'header'
        ? await f.post('token', grant, [clientId, secret])
        : await f.post('token', { ...grant, client_id: clientId, client_secret: secret })
    expect(status).toBe(401)
    return [...work]
  }
}

// Attack: the time of an answer tells whether a client exists.
describe('the work of a refusal', () => {
  test.each(['header', 'form'] as const)(
    '2.10 an unknown client costs what a wrong secret costs, in the %s',
    async (where) => {
      const workOf = await counting()
      const wrong = await workOf(web[0], 'wrong-secret', where)
      expect(wrong).toEqual(['sha256 of 12'])
      expect(await workOf('nobody', 'wrong-secret', where)).toEqual(wrong)
      expect(await workOf('disabled', 'wrong-secret', where)).toEqual(wrong)
      expect(await workOf('disabled', web[1], where)).toEqual([`sha256 of ${web[1].length}`])
      expect(await workOf('spa', 'wrong-secret', where)).toEqual(wrong)
    },
  )

  test('2.10 the second try of a pair with % costs the same for both', async () => {
    const workOf = await counting()
    const wrong = await workOf(web[0], 'wrong%20secret', 'header')
    expect(wrong).toEqual(['sha256 of 14', 'sha256 of 12'])
    expect(await workOf('nobody', 'wrong%20secret', 'header')).toEqual(wrong)
  })

  test('2.10 a verifier of the host is asked about unknown clients too', async () => {
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
    expect((await f.post('token', grant, ['nobody', 'x'])).status).toBe(401)
    expect(asked).toEqual([web[0], 'nobody'])
  })
})

describe('the comparison', () => {
  // Attack: the time of a comparison tells how much of a hash is right.
  test('2.16 every digit is looked at, wherever the difference is', async () => {
    const stored = webRuntime.sha256Hex('right')
    const reads: number[] = []
    /** For a secret that is a number: the stored hash with that digit wrong. Counts the digits that are looked at. */
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
