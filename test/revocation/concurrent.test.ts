import { memoryDriver } from '@grantry/storage-drivers/memory'
import { expect, test } from 'vitest'
import { api1, fixture, web, webJwt } from '../support/fixture.ts'
import { withLatency } from '../support/latency.ts'
import { isLong } from '../support/rounds.ts'

/**
 * Attack: an attacker refreshes at the same instant as the user logs out. Whichever of the two the store sees first, no
 * token of the attacker may work after the revocation has returned.
 */
test.concurrent.each([
  ['reference', web],
  ['JWT', webJwt],
] as const)(
  '8.3 a token (%s) that is issued while its family is revoked is revoked from the start',
  async (_format, as) => {
    const f = await fixture({ storage: withLatency(memoryDriver()) })
    const form = { grant_type: 'password', username: 'alice', password: 'alice-password', scope: 'offline_access api1' }
    let raced = 0
    const race = async () => {
      const { refresh_token: token } = (await f.post('token', form, as)).body
      const [revoked, refreshed] = await Promise.all([
        f.post('revocation', { token }, as),
        f.post('token', { grant_type: 'refresh_token', refresh_token: token }, as),
      ])
      expect(revoked.status).toBe(200)
      if (refreshed.status !== 200) return
      raced += 1
      const { access_token, refresh_token } = refreshed.body
      expect((await f.post('introspection', { token: access_token }, api1)).body).toEqual({ active: false })
      expect((await f.post('token', { grant_type: 'refresh_token', refresh_token }, as)).status).toBe(400)
      expect((await f.post('token', { grant_type: 'refresh_token', refresh_token: token }, as)).status).toBe(400)
    }
    await Promise.all(Array.from({ length: isLong ? 100 : 15 }, race))
    // Otherwise the two never overlapped.
    expect(raced).toBeGreaterThan(0)
  },
)
