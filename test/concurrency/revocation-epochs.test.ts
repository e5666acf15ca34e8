import { setTimeout as sleep } from 'node:timers/promises'
import type { RevocationTarget } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { expect, test } from 'vitest'
import { api1, fixture, redirectUri, web, webJwt } from '../support/fixture.ts'
import { withLatency } from '../support/latency.ts'

/**
 * The attack: a thief redeems a stolen code, or refreshes, at the very instant at which all of the user's tokens are revoked. Whichever of the two the store sees
 * first, nothing that the thief got may work once the revocation was answered. Two servers share the store; the revocation comes a little later each time, so that it meets every step.
 */
test.each([
  ['reference', web, { subject: '1' }],
  ['JWT', webJwt, { subject: '1' }],
  ['reference', web, { clientId: 'web' }],
  ['JWT', webJwt, { clientId: 'web-jwt' }],
] as const)(
  'a token (%s) that is issued to %j while %j is revoked is dead on arrival',
  async (_format, as, target: RevocationTarget) => {
    const storage = withLatency(memoryDriver())
    const [one, two] = [await fixture({ storage }), await fixture({ storage })]
    const form = { grant_type: 'password', username: 'alice', password: 'alice-password', scope: 'offline_access api1' }
    let raced = 0
    for (let round = 0; round < 12; round += 1) {
      const { refresh_token: token } = (await one.post('token', form, as)).body
      const code = await one.code({ clientId: as[0] })
      const [, ...answers] = await Promise.all([
        sleep((round % 6) * 10).then(() => one.provider.revoke(target)),
        two.post('token', { grant_type: 'refresh_token', refresh_token: token }, as),
        two.post('token', { grant_type: 'authorization_code', code, redirect_uri: redirectUri }, as),
      ])
      for (const { status, body } of answers) {
        if (status !== 200) continue
        raced += 1
        expect((await one.post('introspection', { token: body.access_token }, api1)).body).toEqual({ active: false })
        const again = { grant_type: 'refresh_token', refresh_token: body.refresh_token }
        expect((await one.post('token', again, as)).status).toBe(400)
      }
      // A login right after it lives.
      const { body: fresh } = await two.post('token', form, as)
      expect((await one.post('introspection', { token: fresh.access_token }, api1)).body.active).toBe(true)
    }
    // Otherwise the two never met.
    expect(raced).toBeGreaterThan(0)
  },
  60_000,
)
